import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Direction, EntityType, SetBy, StoredRule } from './rate-rules.ts'

export interface Login {
  kind: 'mailbox' | 'smtp_credential'
  organization_id: string
  domain: string
  active: boolean
  expires_at: string | null
  hourly_limit: number | null
  daily_limit: number | null
  allowed_ips: string[]
  ip_allowlist_enabled: boolean
}

/**
 * The mailbox or SMTP credential with this login name; aliases and shared mailboxes cannot log in.
 * Addresses of pending domains are not found.
 */
export async function findLogin(db: Db, name: string): Promise<Login | undefined> {
  const { rows } = await sql<Login>`
    select a.kind, d.organization_id, d.domain,
      o.active and d.hosted and coalesce(c.active, m.status = 'active') as active,
      c.expires_at, c.hourly_limit, c.daily_limit,
      coalesce(c.allowed_ips, '[]') as allowed_ips,
      coalesce(c.ip_allowlist_enabled, false) as ip_allowlist_enabled
    from addresses a
    left join email_accounts m on a.kind = 'mailbox' and m.id = a.owner_id
    left join smtp_credentials c on a.kind = 'smtp_credential' and c.id = a.owner_id
    join domains d on d.id = coalesce(m.domain_id, c.domain_id)
    join organizations o on o.id = d.organization_id
    where a.address = ${name} and a.claim_id = ''`.execute(db)
  return rows[0]
}

export const findHost = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .select(['organization_id', 'domain'])
    .where('domain', '=', domain)
    .where('ownership_verified_at', 'is not', null)
    .executeTakeFirst()

export type RuleRow = StoredRule & { entity_type: EntityType; set_by: SetBy }

/** The rules of the organization, the domain and the mailbox of a sender. */
export const rulesOf = (
  db: Db,
  direction: Direction,
  organizationId: string,
  domain: string,
  mailbox: string,
): Promise<RuleRow[]> =>
  db
    .selectFrom('rate_limit_rules')
    .select([
      'entity_type',
      'set_by',
      'second_limit',
      'minute_limit',
      'hourly_limit',
      'daily_limit',
      'monthly_limit',
      'burst_limit',
      'active',
      'priority',
      'warning_threshold',
      'critical_threshold',
      'description',
    ])
    .where('organization_id', '=', organizationId)
    .where('direction', '=', direction)
    .where((eb) =>
      eb.or([
        eb.and({ entity_type: 'organization', identifier: organizationId }),
        eb.and({ entity_type: 'domain', identifier: domain }),
        eb.and({ entity_type: 'mailbox', identifier: mailbox }),
      ]),
    )
    .execute()
