import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { invalidField } from '../../errors.ts'
import { type Direction, LIMIT_FIELDS, type Rule, type SetBy } from '../../hosting/rate-rules.ts'
import type { PerWindow } from './counters/windows.ts'
import { RateLimitReset } from './rate-limiter.events.ts'
import * as repository from './rate-limiter.repository.ts'
import { defaultRule, openRule, operatorLimits, shownRule } from './rules.ts'

const STORED_PRIORITY = 1

export type RuleNeeds = Pick<Core, 'config' | 'events' | 'now'>

interface Target {
  owned: repository.Owned
  direction: Direction
  setBy: SetBy
  /** The author of the change. */
  by: string
}

/** Writes the given fields of a rule; a tenant cannot exceed the limits of the operator. */
export async function mergeRule(
  { config, events, now }: RuleNeeds,
  tx: Tx,
  { owned, direction, setBy, by }: Target,
  fields: Partial<Rule>,
): Promise<void> {
  const { type, identifier } = owned
  await repository.lockRule(tx, type, identifier, direction)
  const stored = await repository.findRules(tx, owned, direction)
  const fallback = defaultRule(config, type, direction)
  if (setBy === 'tenant')
    refuseLifting(fields, operatorLimits(stored, ceilingOf(direction, fallback)))
  const first = setBy === 'tenant' ? openRule(fallback) : { ...fallback, burst_limit: null }
  const before = stored[setBy] ?? { ...first, priority: STORED_PRIORITY }
  const merged = { ...before, ...fields }
  if (merged.warning_threshold >= merged.critical_threshold) {
    throw invalidField('warning_threshold', 'Must be below critical_threshold')
  }
  await repository.storeRule(tx, owned, direction, setBy, merged, by, now())
  const shown = shownRule({ ...stored, [setBy]: merged }, fallback)
  const { hourly_limit, daily_limit, monthly_limit, active } = shown
  await events.emit(
    tx,
    RateLimitReset,
    { org_id: owned.organizationId, domain: owned.domain },
    {
      entity_type: type,
      identifier,
      direction,
      hourly_limit,
      daily_limit,
      monthly_limit,
      active,
      updated_by: by,
    },
  )
}

export const setByOf = ({ scope }: Caller): SetBy => (scope === 'platform' ? 'operator' : 'tenant')

/** Inbound defaults do not apply to mail from outside, so they limit no rule of a tenant. */
export const ceilingOf = (direction: Direction, fallback: Rule) =>
  direction === 'outbound' ? fallback : undefined

/** 0 is no limit of the tenant's own, so the limit of the operator applies. */
function refuseLifting(sent: Partial<Rule>, ceiling: PerWindow): void {
  for (const [index, field] of LIMIT_FIELDS.entries()) {
    const highest = ceiling[index] ?? 0
    if (highest > 0 && (sent[field] ?? 0) > highest) {
      throw invalidField(
        field,
        `Must not be above ${highest}, the limit that the operator of this host has set`,
      )
    }
  }
}
