import type { Post, TransportRule } from '../../api/schema.ts'

export type NewRule = Post['/transport-rules/']['body']
export type Condition = TransportRule['conditions'][number]
export type Action = TransportRule['actions'][number]
export type Param = keyof Action['params']

const TEXT = ['contains', 'equals', 'starts_with', 'ends_with', 'regex'] as const

/** The comparisons that the API accepts for a field. */
export const OPERATORS_OF: Record<Condition['field'], readonly Condition['operator'][]> = {
  sender: TEXT,
  recipient: TEXT,
  subject: TEXT,
  header: TEXT,
  size: ['greater_than', 'less_than', 'equals'],
  has_attachment: ['equals'],
}

/** The parameters of an action, in the order of the form. */
export const PARAMS_OF: Record<Action['type'], readonly Param[]> = {
  quarantine: ['reason'],
  add_header: ['name', 'value'],
  modify_subject: ['prefix', 'suffix', 'replace'],
  redirect: ['address'],
  bcc: ['address'],
  reject: ['message'],
  add_disclaimer: ['text', 'html', 'position'],
}

export const OPTIONAL: readonly Param[] = [
  'reason',
  'prefix',
  'suffix',
  'replace',
  'html',
  'position',
]

export const NEW_CONDITION: Condition = { field: 'sender', operator: 'contains', value: '' }
export const NEW_ACTION: Action = { type: 'quarantine', params: {} }

/** `X-Priority: high` as name and text. Without a text the condition tests whether it exists. */
export function headerOf(value: string): { name: string; text: string } {
  const colon = value.indexOf(':')
  if (colon < 0) return { name: value, text: '' }
  return { name: value.slice(0, colon), text: value.slice(colon + 1).trimStart() }
}

/** A condition for another field; what was typed stays where it still makes sense. */
export function withField(condition: Condition, field: Condition['field']): Condition {
  const allowed = OPERATORS_OF[field]
  const operator = allowed.includes(condition.operator)
    ? condition.operator
    : (allowed[0] ?? 'equals')
  const keepsValue = OPERATORS_OF[condition.field] === TEXT && allowed === TEXT
  if (field === 'has_attachment') return { field, operator, value: 'true' }
  const text = condition.field === 'header' ? headerOf(condition.value).text : condition.value
  if (field === 'header') return { field, operator, value: keepsValue ? `: ${text}` : '' }
  return { field, operator, value: keepsValue ? text : '' }
}

/** An action as it is sent: with the parameters of its type that have a text. */
export const sentAction = ({ type, params }: Action): Action => ({
  type,
  params: Object.fromEntries(
    PARAMS_OF[type].flatMap((name) => (params[name] ? [[name, params[name]]] : [])),
  ),
})
