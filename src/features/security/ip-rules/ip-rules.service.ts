import type { RuleUse } from '../../../access/address-rules.repository.ts'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { normalizeNetwork } from '../../../lib/ip.ts'
import { NoUpdatableFields } from '../security.errors.ts'
import { addRule, type NewRule, refusingDuplicates, removeRule } from './ip-rule-changes.ts'
import { IpRuleNotFound } from './ip-rules.errors.ts'
import * as rules from './ip-rules.repository.ts'

interface Change {
  description?: string | null
  active?: boolean
  rule_type?: rules.RuleType
  applies_to?: RuleUse[]
  ip_address?: string
}

export type IpRuleService = ReturnType<typeof ipRuleService>

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'now'>

/**
 * Postfix asks for every recipient, and the rules are read for each answer. Callers of the API and
 * logins are cached with their rules; a trigger evicts them.
 */
export const ipRuleService = ({ access, change, db, now }: Needs) => {
  /** A changed rule is in force in this process before the response. */
  const settled = async <Result>(changed: Promise<Result>): Promise<Result> => {
    const result = await changed
    await access.settled()
    return result
  }
  return {
    async list(filter: rules.IpRuleFilter, sort: rules.IpRuleSort, page: Page) {
      const { items, total } = await rules.list(db, filter, sort, page)
      return paginated(items, total, page)
    },

    create: (caller: Caller, body: NewRule) =>
      settled(
        refusingDuplicates(() => change(caller, (tx) => addRule(tx, body, caller.email, now()))),
      ),

    update(caller: Caller, id: string, { ip_address, ...fields }: Change) {
      return settled(
        refusingDuplicates(() =>
          change(caller, async (tx) => {
            const stored = await rules.lock(tx, id)
            if (!stored) throw new IpRuleNotFound()
            // Clients may send the whole record back, with its unchanged address.
            if (
              ip_address !== undefined &&
              normalizeNetwork(ip_address.trim()) !== stored.ip_address
            ) {
              throw invalidField('ip_address', 'Cannot change; delete the rule and create another')
            }
            if (Object.keys(fields).length === 0) throw new NoUpdatableFields()
            return rules.update(tx, id, fields, now())
          }),
        ),
      )
    },

    delete: (caller: Caller, id: string) => settled(change(caller, (tx) => removeRule(tx, id))),
  }
}
