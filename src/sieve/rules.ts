import { marker, markers } from './marker.ts'
import { lines, quoted, required } from './text.ts'

const NAME = 'svc-rules'
export const RULE_MARKER = 'svc-rule'

export interface Condition {
  field?: string
  operator?: string
  value?: string | null
}

export interface Action {
  type?: string
  value?: string | null
}

export interface Rule {
  id: string
  name: string
  match: 'all' | 'any'
  conditions: Condition[]
  actions: Action[]
  enabled: boolean
}

export type Field = 'from' | 'to' | 'cc' | 'subject' | 'body'
export type Operator = 'contains' | 'is' | 'matches'
export interface Test {
  field: Field
  operator: Operator
  value: string
}
export type Step =
  | { type: 'flag' | 'mark_read' | 'discard' }
  | { type: 'move' | 'forward'; value: string }

const FIELDS = new Set(['from', 'to', 'cc', 'subject', 'body'])
const ADDRESS_FIELDS = new Set(['from', 'to', 'cc'])

/** The valid conditions and actions of a rule; undefined when it would have no effect. */
export function usable({ enabled, conditions, actions }: Rule) {
  const tests = conditions.flatMap(({ field = '', operator, value }): Test[] =>
    FIELDS.has(field) && value
      ? [{ field: field as Field, operator: operatorOf(operator), value }]
      : [],
  )
  const steps = actions.flatMap(({ type, value }): Step[] => {
    if (type === 'flag' || type === 'mark_read' || type === 'discard') return [{ type }]
    return (type === 'move' || type === 'forward') && value?.trim() ? [{ type, value }] : []
  })
  const acts = enabled && tests.length > 0 && steps.length > 0
  // Flags come first, because a flag only applies to later actions.
  return acts
    ? { tests, steps: [...steps.filter(isFlag), ...steps.filter((one) => !isFlag(one))] }
    : undefined
}

const isFlag = ({ type }: Step) => type === 'flag' || type === 'mark_read'

const operatorOf = (operator: string | undefined): Operator =>
  operator === 'is' || operator === 'matches' ? operator : 'contains'

/** The rules of the mailbox owner, in order. All matching rules run. */
export const rules = {
  name: NAME,
  none: [] as Rule[],

  write(all: readonly Rule[]): string {
    const scripts = all.map((rule) => ({ rule, parts: usable(rule) }))
    const live = scripts.flatMap(({ parts }) => (parts ? [parts] : []))
    const uses = (some: (parts: NonNullable<ReturnType<typeof usable>>) => boolean) =>
      live.some(some)
    const extensions = [
      'fileinto',
      'imap4flags',
      ...(uses(({ steps }) => steps.some(({ type }) => type === 'move')) ? ['mailbox'] : []),
      ...(uses(({ tests }) => tests.some(({ field }) => field === 'body')) ? ['body'] : []),
      ...(uses(({ steps }) => steps.some(({ type }) => type === 'forward')) ? ['copy'] : []),
    ]
    return lines(
      live.length > 0 ? [required(extensions)] : ['# No rule acts.'],
      scripts.flatMap(({ rule, parts }) => [
        marker(RULE_MARKER, rule),
        ...(parts ? block(rule.match, parts) : []),
      ]),
    )
  },

  read: (script: string): Rule[] =>
    markers(script, RULE_MARKER).map(({ id, name, match, conditions, actions, enabled }) => ({
      id: String(id),
      name: String(name),
      match: match === 'any' ? 'any' : 'all',
      conditions: Array.isArray(conditions) ? conditions : [],
      actions: Array.isArray(actions) ? actions : [],
      enabled: enabled !== false,
    })),
}

function block(match: Rule['match'], { tests, steps }: { tests: Test[]; steps: Step[] }): string[] {
  const all = tests.map(testOf)
  const [only] = all
  const condition =
    all.length === 1 ? only : `${match === 'any' ? 'anyof' : 'allof'} (${all.join(', ')})`
  return [`if ${condition} {`, ...steps.map((step) => `  ${commandOf(step)}`), '}']
}

function testOf({ field, operator, value }: Test): string {
  const text = quoted(operator === 'matches' ? pattern(value) : value)
  if (field === 'body') return `body :text :${operator} ${text}`
  const header = `header :${operator} "${field}" ${text}`
  // "is jane@acme.example" also means mail from "Jane <jane@acme.example>".
  return ADDRESS_FIELDS.has(field) && operator !== 'contains'
    ? `anyof (${header}, address :${operator} :all "${field}" ${text})`
    : header
}

/** Pigeonhole 0.5.19 crashes at every delivery on a pattern that ends with a single backslash. */
const pattern = (value: string): string =>
  (/\\*$/.exec(value)?.[0].length ?? 0) % 2 === 1 ? `${value}\\` : value

function commandOf(step: Step): string {
  switch (step.type) {
    case 'flag':
      return 'addflag "\\\\Flagged";'
    case 'mark_read':
      return 'addflag "\\\\Seen";'
    case 'discard':
      return 'discard;'
    case 'move':
      return `fileinto :create ${quoted(step.value)};`
    case 'forward':
      return `redirect :copy ${quoted(step.value)};`
  }
}
