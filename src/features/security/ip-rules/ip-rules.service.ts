import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { plainNetwork } from '../../../lib/cidr.ts'
import { ulid } from '../../../lib/ulid.ts'
import { lockOrganization } from '../organizations.repository.ts'
import { NoUpdatableFields, OrganizationNotFound } from '../security.errors.ts'
import { IpRuleExists, IpRuleNotFound } from './ip-rules.errors.ts'
import * as rules from './ip-rules.repository.ts'

interface NewRule {
  rule_type: rules.RuleType
  ip_address: string
  description?: string | null
  organization_id: string
}

interface Change {
  description?: string | null
  active?: boolean
  rule_type?: rules.RuleType
  ip_address?: string
}

const onceOnly = <Result>(work: () => Promise<Result>) =>
  refusing(
    { ip_access_rules_organization_id_rule_type_ip_address_key: () => new IpRuleExists() },
    work,
  )

export type IpRuleService = ReturnType<typeof ipRuleService>

/** Rules are read afresh for every connection, so there is nobody to tell of a change. */
export const ipRuleService = ({ change, db, now }: Pick<Core, 'change' | 'db' | 'now'>) => ({
  async list(filter: rules.IpRuleFilter, sort: rules.IpRuleSort, page: Page) {
    const { items, total } = await rules.list(db, filter, sort, page)
    return paginated(items, total, page)
  },

  create(caller: Caller, body: NewRule) {
    const { rule_type, organization_id, description = null } = body
    const ip_address = plainNetwork(body.ip_address.trim())
    if (ip_address === undefined) {
      const wants = 'Must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24'
      throw invalidField('ip_address', wants)
    }
    const at = now().toISOString()
    return onceOnly(() =>
      change(caller, async (tx) => {
        if (!(await lockOrganization(tx, organization_id))) throw new OrganizationNotFound()
        return rules.insert(tx, {
          id: ulid(),
          organization_id,
          rule_type,
          ip_address,
          description,
          created_by: caller.email,
          created_at: at,
          updated_at: at,
        })
      }),
    )
  },

  update(caller: Caller, id: string, { ip_address, ...fields }: Change) {
    return onceOnly(() =>
      change(caller, async (tx) => {
        const stored = await rules.lock(tx, id)
        if (!stored) throw new IpRuleNotFound()
        // Who sends the whole record back sends the address along.
        if (ip_address !== undefined && plainNetwork(ip_address.trim()) !== stored.ip_address) {
          throw invalidField('ip_address', 'Cannot change; delete the rule and create another')
        }
        if (Object.keys(fields).length === 0) throw new NoUpdatableFields()
        return rules.update(tx, id, fields, now())
      }),
    )
  },

  delete: (caller: Caller, id: string) =>
    change(caller, async (tx) => {
      const removed = await rules.remove(tx, id)
      if (!removed) throw new IpRuleNotFound()
      const remaining = await rules.countWhitelist(tx, removed.organization_id)
      return { ...removed, active_whitelist_rules_remaining: remaining }
    }),
})
