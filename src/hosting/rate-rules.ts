export type Direction = 'outbound' | 'inbound'
export type EntityType = 'organization' | 'domain' | 'mailbox'

/** In the order of the counting windows. */
export const LIMIT_FIELDS = [
  'second_limit',
  'minute_limit',
  'hourly_limit',
  'daily_limit',
  'monthly_limit',
  'burst_limit',
] as const

export type LimitField = (typeof LIMIT_FIELDS)[number]

export interface Rule extends Record<LimitField, number> {
  active: boolean
  priority: number
  warning_threshold: number
  critical_threshold: number
  description: string
}

/** A null burst limit is not enforced; the API shows the default in its place. */
export type StoredRule = Omit<Rule, 'burst_limit'> & { burst_limit: number | null }

/** The owner of a rule. A tenant can lower the limits of the operator but not raise them. */
export type SetBy = 'operator' | 'tenant'

/** The stored rules of one entity for one direction. */
export type RulePair = Partial<Record<SetBy, StoredRule>>
