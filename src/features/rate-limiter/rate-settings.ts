import { actorOf } from '../../access/actor.ts'
import type { Rule } from '../../hosting/rate-rules.ts'
import { limitsOfSettings, type RateSettings } from '../../hosting/rate-settings.ts'
import { mergeRule, type RuleNeeds, setByOf } from './merge-rule.ts'
import { defaultRule } from './rules.ts'

const MAX_ATTRIBUTION = 255

/** `rate_limits` of organizations, domains and mailboxes are rules of the limiter. */
export const rateSettings = (needs: RuleNeeds): RateSettings => ({
  async apply(tx, caller, entity, before, after) {
    const setBy = setByOf(caller)
    const by = actorOf(caller).slice(0, MAX_ATTRIBUTION)
    for (const direction of ['outbound', 'inbound'] as const) {
      const old = limitsOfSettings(before, direction)
      const wanted = limitsOfSettings(after, direction)
      const fallback = defaultRule(needs.config, entity.type, direction)
      const fields: Partial<Rule> = {}
      for (const field of Object.keys({ ...old, ...wanted }) as (keyof typeof wanted)[]) {
        // A limit that was removed is the default again, or none of the tenant's own.
        const value = wanted[field] ?? (setBy === 'operator' ? fallback[field] : 0)
        if (old[field] !== wanted[field]) fields[field] = value
      }
      if (Object.keys(fields).length === 0) continue
      await mergeRule(needs, tx, { owned: entity, direction, setBy, by }, fields)
    }
  },
})
