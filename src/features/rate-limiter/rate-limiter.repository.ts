import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import { bulkRows } from '../../database/bulk.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import {
  type Direction,
  type EntityType,
  LIMIT_FIELDS,
  type Rule,
  type RulePair,
  type SetBy,
  type StoredRule,
} from '../../hosting/rate-rules.ts'
import { aliasesOf, type LimitedEntity, settingKey } from '../../hosting/rate-settings.ts'
import type { Subject } from './counters/counters.ts'

const TABLES = {
  organization: ['organizations', 'id'],
  domain: ['domains', 'domain'],
  mailbox: ['email_accounts', 'email'],
} as const

/** An entity with a rule, and its organization. */
export type Owned = LimitedEntity

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

export async function findRules(
  db: Db,
  { organizationId, type, identifier }: Owned,
  direction: Direction,
): Promise<RulePair> {
  const rows = await db
    .selectFrom('rate_limit_rules')
    .select(['set_by', ...fields])
    .where('organization_id', '=', organizationId)
    .where('entity_type', '=', type)
    .where('identifier', '=', identifier)
    .where('direction', '=', direction)
    .execute()
  return Object.fromEntries(rows.map(({ set_by, ...rule }) => [set_by, rule]))
}

/** Locks the rule, so that concurrent writers merge their fields one after the other. */
export const lockRule = (tx: Tx, type: EntityType, identifier: string, direction: Direction) =>
  sql`select pg_advisory_xact_lock(
    hashtextextended(${`rate limit ${type} ${direction} ${identifier}`}, 0))`.execute(tx)

export const storeRule = (
  tx: Tx,
  { organizationId, type, identifier }: Owned,
  direction: Direction,
  setBy: SetBy,
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
      set_by: setBy,
      created_by: by,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'entity_type', 'identifier', 'direction', 'set_by'])
        .doUpdateSet({ ...rule, updated_at: now.toISOString() }),
    )
    .execute()

/** Keeps `rate_limits` of the entity the same as the limits of its rule. */
export async function noteInSettings(
  tx: Tx,
  { organizationId, type, identifier }: Owned,
  direction: Direction,
  fields: Partial<Rule>,
): Promise<void> {
  const sent = LIMIT_FIELDS.filter((field) => fields[field] !== undefined)
  if (sent.length === 0) return
  const [table, column] = TABLES[type]
  const owner = type === 'organization' ? 'id' : 'organization_id'
  const values = Object.fromEntries(
    sent.map((field) => [settingKey(direction, field), fields[field]]),
  )
  const aliases = sent.flatMap((field) => aliasesOf(direction, field))
  await sql`update ${sql.table(table)}
    set rate_limits = (rate_limits - ${aliases}::text[]) || ${values}::jsonb
    where ${sql.ref(column)} = ${identifier} and ${sql.ref(owner)} = ${organizationId}`.execute(tx)
}

/** Counts by direction; the row shows them as `rate_usage_data`. */
export async function storeUsageData(
  db: Db,
  { organizationId, type, identifier, direction }: Subject,
  counts: object,
): Promise<void> {
  if (type !== 'domain' && type !== 'mailbox') return
  const [table, column] = TABLES[type]
  await sql`update ${sql.table(table)}
    set rate_usage_data = coalesce(rate_usage_data, '{}') || ${{ [direction]: counts }}::jsonb
    where ${sql.ref(column)} = ${identifier} and organization_id = ${organizationId}`.execute(db)
}

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
