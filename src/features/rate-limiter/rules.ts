import type { Config } from '../../config.ts'
import type { Direction, EntityType } from './counters.ts'
import type { PerWindow } from './windows.ts'

/** In the order of the windows. */
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

/** Null is a burst limit that nobody has set: the default is shown, and none is enforced. */
export type StoredRule = Omit<Rule, 'burst_limit'> & { burst_limit: number | null }

const PREFIXES = { organization: 'ORG', domain: 'DOMAIN', mailbox: 'MAILBOX' } as const
const DEFAULT_PRIORITY = 999

/** What holds for an entity that has no rule of its own. */
export function defaultRule(config: Config, type: EntityType, direction: Direction): Rule {
  const prefix = `${PREFIXES[type]}_${direction === 'outbound' ? 'OUTBOUND' : 'INBOUND'}` as const
  return {
    second_limit: config[`${prefix}_SECOND_DEFAULT`],
    minute_limit: config[`${prefix}_MINUTE_DEFAULT`],
    hourly_limit: config[`${prefix}_HOURLY_DEFAULT`],
    daily_limit: config[`${prefix}_DAILY_DEFAULT`],
    monthly_limit: config[`${prefix}_MONTHLY_DEFAULT`],
    burst_limit: config[`${prefix}_BURST_DEFAULT`],
    active: true,
    priority: DEFAULT_PRIORITY,
    warning_threshold: config.RATE_LIMIT_WARNING_THRESHOLD,
    critical_threshold: config.RATE_LIMIT_CRITICAL_THRESHOLD,
    description: `Default ${direction} limits of a ${type}`,
  }
}

export const shownRule = (stored: StoredRule | undefined, fallback: Rule): Rule =>
  stored ? { ...stored, burst_limit: stored.burst_limit ?? fallback.burst_limit } : fallback

/** What a rule allows; an inactive one allows everything, and what passes is still counted. */
export function limitsOf(stored: StoredRule | undefined, fallback: Rule): PerWindow {
  const { active, ...rule } = stored ?? { ...fallback, burst_limit: null }
  return LIMIT_FIELDS.map((field) => (active ? (rule[field] ?? 0) : 0))
}

/** The fields of a rule among what was sent; the alias of the daily limit wins over it. */
export function sentFields(sent: Partial<Rule> & { max_outbound_per_day?: number }): Partial<Rule> {
  const names = [
    ...LIMIT_FIELDS,
    'active',
    'priority',
    'warning_threshold',
    'critical_threshold',
    'description',
  ] as const
  const given = names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name]])
  return {
    ...Object.fromEntries(given),
    ...(sent.max_outbound_per_day !== undefined && { daily_limit: sent.max_outbound_per_day }),
  }
}
