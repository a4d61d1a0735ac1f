export const FIELDS = [
  'sender',
  'recipient',
  'subject',
  'header',
  'size',
  'has_attachment',
] as const
export const OPERATORS = [
  'equals',
  'contains',
  'starts_with',
  'ends_with',
  'regex',
  'greater_than',
  'less_than',
] as const
export const ACTION_TYPES = [
  'quarantine',
  'add_header',
  'modify_subject',
  'redirect',
  'bcc',
  'reject',
  'add_disclaimer',
] as const

export const MAX_CONDITIONS = 50
export const MAX_ACTIONS = 20
export const MAX_RULES = 200
/** Conditions and actions of all rules of an organization together. */
export const MAX_RULES_BYTES = 512 * 1024

export interface Condition {
  field: (typeof FIELDS)[number]
  operator: (typeof OPERATORS)[number]
  value: string
}

/** An action as stored: validated, with only the parameters of its type. */
export type Action =
  | { type: 'add_header'; params: { name: string; value: string } }
  | { type: 'modify_subject'; params: { prefix?: string; suffix?: string; replace?: string } }
  | { type: 'redirect' | 'bcc'; params: { address: string } }
  | { type: 'reject'; params: { message: string } }
  | {
      type: 'add_disclaimer'
      params: { text: string; html?: string; position: 'start' | 'end' }
    }
  | { type: 'quarantine'; params: { reason?: string } }

export interface Rule {
  id: string
  organization_id: string
  name: string
  direction: 'inbound' | 'outbound' | 'both'
  conditions: Condition[]
  condition_logic: 'all' | 'any'
  actions: Action[]
  priority: number
}
