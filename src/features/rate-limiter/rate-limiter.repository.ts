import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import { bulkRows } from '../../database/bulk.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import type { Direction, EntityType, Subject } from './counters.ts'
import type { StoredRule } from './rules.ts'

/** An entity that has a rule, and whose it is. */
export interface Owned {
  organizationId: string
  type: EntityType
  identifier: string
  domain: string | null
}

export async function findOrganization(db: Db, scope: Scope, id: string) {
  const query = db.selectFrom('organizations').select('id').where('id', '=', id)
  const row = await (scope === 'platform'
    ? query
    : query.where('id', '=', scope.organization)
  ).executeTakeFirst()
  return row && owned('organization', row.id, row.id, null)
}

export async function findDomain(db: Db, scope: Scope, domain: string) {
  const row = await db
    .selectFrom('domains')
    .select('organization_id')
    .where('domain', '=', domain)
    .where(inScope('domains', scope))
    .executeTakeFirst()
  return row && owned('domain', row.organization_id, domain, domain)
}

export async function findMailbox(db: Db, scope: Scope, email: string) {
  const row = await db
    .selectFrom('email_accounts')
    .select('organization_id')
    .where('email', '=', email)
    .where(inScope('email_accounts', scope))
    .executeTakeFirst()
  const domain = email.slice(email.lastIndexOf('@') + 1)
  return row && owned('mailbox', row.organization_id, email, domain)
}

const owned = (
  type: EntityType,
  organizationId: string,
  identifier: string,
  domain: string | null,
): Owned => ({ type, organizationId, identifier, domain })

const fields = [
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
] as const

export const findRule = (
  db: Db,
  type: EntityType,
  identifier: string,
  direction: Direction,
): Promise<StoredRule | undefined> =>
  db
    .selectFrom('rate_limit_rules')
    .select(fields)
    .where('entity_type', '=', type)
    .where('identifier', '=', identifier)
    .where('direction', '=', direction)
    .executeTakeFirst()

/** Writes to one rule take turns: each adds its fields to what the one before has left. */
export const lockRule = (tx: Tx, type: EntityType, identifier: string, direction: Direction) =>
  sql`select pg_advisory_xact_lock(
    hashtextextended(${`rate limit ${type} ${direction} ${identifier}`}, 0))`.execute(tx)

export const storeRule = (
  tx: Tx,
  { organizationId, type, identifier }: Owned,
  direction: Direction,
  rule: StoredRule,
  by: string,
  now: Date,
) =>
  tx
    .insertInto('rate_limit_rules')
    .values({
      ...rule,
      organization_id: organizationId,
      entity_type: type,
      identifier,
      direction,
      created_by: by,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['entity_type', 'identifier', 'direction'])
        .doUpdateSet({ ...rule, updated_at: now.toISOString() }),
    )
    .execute()

export async function loadUsage(db: Db, subject: Subject): Promise<object | undefined> {
  const row = await db
    .selectFrom('rate_limit_usage')
    .select('counts')
    .where('organization_id', '=', subject.organizationId)
    .where('entity_type', '=', subject.type)
    .where('identifier', '=', subject.identifier)
    .where('direction', '=', subject.direction)
    .executeTakeFirst()
  return row?.counts
}

const USAGE = {
  organization_id: 'text',
  entity_type: 'text',
  identifier: 'text',
  direction: 'text',
  counts: 'jsonb',
} as const

export const storeUsage = (tx: Tx, rows: { subject: Subject; counts: object }[], now: Date) => {
  const usage = rows.map(({ subject, counts }) => ({
    organization_id: subject.organizationId,
    entity_type: subject.type,
    identifier: subject.identifier,
    direction: subject.direction,
    counts,
  }))
  return sql`
    insert into rate_limit_usage
      (organization_id, entity_type, identifier, direction, counts, updated_at)
    select *, ${now.toISOString()}::timestamptz from ${bulkRows(USAGE, usage)} as usage
    on conflict (organization_id, entity_type, identifier, direction)
      do update set counts = excluded.counts, updated_at = excluded.updated_at`.execute(tx)
}

export const deleteUsageBefore = (db: Db, before: Date) =>
  db.deleteFrom('rate_limit_usage').where('updated_at', '<', before.toISOString()).execute()

/** True when this process counts, from now on for so many seconds. */
export async function takeOwnership(db: Db, holder: string, seconds: number, force: boolean) {
  const { rows } = await sql`
    insert into rate_limit_owner (holder, expires_at)
    values (${holder}, now() + make_interval(secs => ${seconds}))
    on conflict (id) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where ${force} or rate_limit_owner.holder = excluded.holder
        or rate_limit_owner.expires_at < now()
    returning holder`.execute(db)
  return rows.length > 0
}

export const releaseOwnership = (db: Db, holder: string) =>
  db.deleteFrom('rate_limit_owner').where('holder', '=', holder).execute()
