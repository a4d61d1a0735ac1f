import { RULE_USES, type RuleUse } from '../../../access/address-rules.repository.ts'
import { refusing } from '../../../database/conflicts.ts'
import type { Tx } from '../../../database/database.ts'
import { invalidField } from '../../../errors.ts'
import { lockOrganization } from '../../../hosting/tenants.repository.ts'
import { normalizeNetwork } from '../../../lib/ip.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../security.errors.ts'
import { IpRuleExists, IpRuleNotFound } from './ip-rules.errors.ts'
import * as rules from './ip-rules.repository.ts'

/* The changes of IP rules, over HTTP and on the command line. */

export interface NewRule {
  rule_type: rules.RuleType
  ip_address: string
  applies_to?: RuleUse[]
  description?: string | null
  organization_id: string
}

export const refusingDuplicates = <Result>(work: () => Promise<Result>) =>
  refusing(
    { ip_access_rules_organization_id_rule_type_ip_address_key: () => new IpRuleExists() },
    work,
  )

export function networkOf(sent: string): string {
  const network = normalizeNetwork(sent.trim())
  if (network !== undefined) return network
  const message = 'Must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24'
  throw invalidField('ip_address', message)
}

export async function addRule(tx: Tx, sent: NewRule, createdBy: string | null, now: Date) {
  const { rule_type, organization_id, applies_to = [...RULE_USES], description = null } = sent
  const at = now.toISOString()
  if (!(await lockOrganization(tx, organization_id))) throw new OrganizationNotFound()
  return rules.insert(tx, {
    id: ulid(),
    organization_id,
    rule_type,
    ip_address: networkOf(sent.ip_address),
    applies_to,
    description,
    created_by: createdBy,
    created_at: at,
    updated_at: at,
  })
}

export async function removeRule(tx: Tx, id: string) {
  const removed = await rules.remove(tx, id)
  if (!removed) throw new IpRuleNotFound()
  const remaining = await rules.countWhitelist(tx, removed.organization_id)
  return { ...removed, active_whitelist_rules_remaining: remaining }
}
