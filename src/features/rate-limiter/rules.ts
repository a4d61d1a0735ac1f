import type { Config } from '../../config/index.ts'
import type { Direction, EntityType, Rule, RulePair, StoredRule } from '../../hosting/rate-rules.ts'
import { LIMIT_FIELDS } from '../../hosting/rate-rules.ts'
import type { PerWindow } from './counters/windows.ts'

const PREFIXES = { organization: 'ORG', domain: 'DOMAIN', mailbox: 'MAILBOX' } as const
const DEFAULT_PRIORITY = 999

/** The rule of an entity without a stored rule. */
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

/** A tenant's rule before its first write: no limits of its own. */
export const openRule = (fallback: Rule): StoredRule => ({
  ...fallback,
  ...Object.fromEntries(LIMIT_FIELDS.map((field) => [field, 0])),
  burst_limit: null,
})

/**
 * The limits of the operator, which no rule of a tenant can lift. Without a default, an operator who
 * has set no rule sets no limit.
 */
export function operatorLimits({ operator }: RulePair, fallback: Rule | undefined): PerWindow {
  if (operator) return limitsIn(operator)
  return fallback ? limitsIn({ ...fallback, burst_limit: null }) : LIMIT_FIELDS.map(() => 0)
}

/** The limits that are enforced: the lower ones of operator and tenant. */
export function limitsOf(stored: RulePair, fallback: Rule | undefined): PerWindow {
  const own = stored.tenant ? limitsIn(stored.tenant) : []
  return operatorLimits(stored, fallback).map((limit, index) => lowest(limit, own[index] ?? 0))
}

/** Thresholds, priority and description: those of the tenant, if it has a rule. */
export const ruleIn = ({ operator, tenant }: RulePair, fallback: Rule) =>
  tenant ?? operator ?? fallback

/** The rule as the API shows it: limits of the tenant, and of the operator where it has none. */
export function shownRule({ operator, tenant }: RulePair, fallback: Rule): Rule {
  const above = { ...fallback, ...operator }
  const rule = { ...above, burst_limit: above.burst_limit ?? fallback.burst_limit }
  if (!tenant) return rule
  const own = LIMIT_FIELDS.filter((field) => tenant[field]).map((field) => [field, tenant[field]])
  const { active, priority, warning_threshold, critical_threshold, description } = tenant
  return {
    ...rule,
    ...Object.fromEntries(own),
    active,
    priority,
    warning_threshold,
    critical_threshold,
    description,
  }
}

/** An inactive rule has no limits, but messages are still counted. */
const limitsIn = ({ active, ...rule }: StoredRule): PerWindow =>
  LIMIT_FIELDS.map((field) => (active ? (rule[field] ?? 0) : 0))

/** 0 means no limit. */
const lowest = (one: number, other: number): number =>
  one === 0 || other === 0 ? one + other : Math.min(one, other)

/** The fields of a rule in a request body. `max_outbound_per_day` overrides `daily_limit`. */
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
