import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { AddressRule } from '../lib/address-rules.ts'

/** The scope of an IP rule: sending mail, mailboxes (IMAP, POP3, ManageSieve, web), the API. */
export const RULE_USES = ['smtp', 'mailbox', 'api'] as const
export type RuleUse = (typeof RULE_USES)[number]

/** The active IP rules of an organization for one use, as a value of a query. */
export const addressRulesOf = (
  organization: RawBuilder<unknown>,
  use: RuleUse,
): RawBuilder<AddressRule[]> => sql<AddressRule[]>`coalesce((
  select jsonb_agg(jsonb_build_object('rule_type', r.rule_type, 'ip_address', r.ip_address))
  from ip_access_rules r
  where r.organization_id = ${organization} and r.active and ${use} = any(r.applies_to)
), '[]')`

export async function findAddressRules(
  db: Db,
  organizationId: string,
  use: RuleUse,
): Promise<AddressRule[]> {
  const { rows } = await sql<{ rules: AddressRule[] }>`
    select ${addressRulesOf(sql`${organizationId}`, use)} as rules`.execute(db)
  return rows[0]?.rules ?? []
}

/** The rules for the mailboxes of a domain that is hosted here; those of an unknown one are empty. */
export async function findMailboxRules(db: Db, domain: string): Promise<AddressRule[]> {
  const { rows } = await sql<{ rules: AddressRule[] }>`
    select ${addressRulesOf(sql`d.organization_id`, 'mailbox')} as rules
    from domains d where d.domain = ${domain} and d.ownership_verified_at is not null`.execute(db)
  return rows[0]?.rules ?? []
}
