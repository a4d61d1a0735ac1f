import { RULE_USES, type RuleUse } from '../../../access/address-rules.repository.ts'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { invalidField } from '../../../errors.ts'
import { lockOrganization } from '../../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { normalizeNetwork } from '../../../lib/ip.ts'
import { ulid } from '../../../lib/ulid.ts'
import { NoUpdatableFields, OrganizationNotFound } from '../security.errors.ts'
import { IpRuleExists, IpRuleNotFound } from './ip-rules.errors.ts'
import * as rules from './ip-rules.repository.ts'

interface NewRule {
  rule_type: rules.RuleType
  ip_address: string
  applies_to?: RuleUse[]
  description?: string | null
  organization_id: string
}

interface Change {
  description?: string | null
  active?: boolean
  rule_type?: rules.RuleType
  applies_to?: RuleUse[]
  ip_address?: string
}

const refusingDuplicates = <Result>(work: () => Promise<Result>) =>
  refusing(
    { ip_access_rules_organization_id_rule_type_ip_address_key: () => new IpRuleExists() },
    work,
  )

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

    create(caller: Caller, body: NewRule) {
      const { rule_type, organization_id, applies_to = [...RULE_USES], description = null } = body
      const ip_address = normalizeNetwork(body.ip_address.trim())
      if (ip_address === undefined) {
        const message = 'Must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24'
        throw invalidField('ip_address', message)
      }
      const at = now().toISOString()
      return settled(
        refusingDuplicates(() =>
          change(caller, async (tx) => {
            if (!(await lockOrganization(tx, organization_id))) throw new OrganizationNotFound()
            return rules.insert(tx, {
              id: ulid(),
              organization_id,
              rule_type,
              ip_address,
              applies_to,
              description,
              created_by: caller.email,
              created_at: at,
              updated_at: at,
            })
          }),
        ),
      )
    },

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

    delete: (caller: Caller, id: string) =>
      settled(
        change(caller, async (tx) => {
          const removed = await rules.remove(tx, id)
          if (!removed) throw new IpRuleNotFound()
          const remaining = await rules.countWhitelist(tx, removed.organization_id)
          return { ...removed, active_whitelist_rules_remaining: remaining }
        }),
      ),
  }
}
