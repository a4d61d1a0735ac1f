import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db } from '../../../database/database.ts'
import { COLUMN_OF, type EntityType, STORAGE_KINDS } from '../usage/kinds.ts'

/** Bytes of each kind; of the whole installation without an entity. */
export async function usedBytes(
  db: Db,
  entity?: { type: EntityType; id: string },
): Promise<Record<string, number>> {
  const where = entity
    ? sql`where counted.${sql.ref(COLUMN_OF[entity.type])} = ${entity.id}`
    : sql``
  const parts = STORAGE_KINDS.map(
    ({ name, rows }) => sql`
      select ${name}::text as name, coalesce(sum(bytes), 0)::bigint as bytes
      from (${rows}) as counted ${where}`,
  )
  const { rows } = await sql<{ name: string; bytes: number }>`
    ${sql.join(parts, sql` union all `)}`.execute(db)
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]))
}

/** Stores the figures of a day that differ from the newest stored ones. */
export async function storeDay(db: Db, type: EntityType, day: string): Promise<void> {
  const id = sql.ref(COLUMN_OF[type])
  for (const { name, rows } of STORAGE_KINDS) {
    await sql`
      insert into storage_history (organization_id, entity_type, entity_id, storage_type, day, used_bytes)
      select organization_id, ${type}, entity_id, ${name}, ${day}::date, bytes
      from (
        select organization_id, ${id} as entity_id, sum(bytes)::bigint as bytes
        from (${rows}) as each_row where ${id} is not null
        group by organization_id, ${id}
      ) as counted
      left join lateral (
        select used_bytes from storage_history
        where storage_history.entity_id = counted.entity_id and storage_type = ${name}
        order by storage_history.day desc limit 1
      ) as newest on true
      where bytes <> coalesce(newest.used_bytes, 0)
      on conflict (entity_id, storage_type, day) do update set used_bytes = excluded.used_bytes`.execute(
      db,
    )
  }
}

/** Keeps the newest row before the day: the days after it are like it until the next row. */
export const deleteBefore = (db: Db, types: readonly EntityType[], day: string) =>
  db
    .deleteFrom('storage_history')
    .where('entity_type', 'in', [...types])
    .where(sql<boolean>`day < ${day}::date and exists (
      select from storage_history as newer
      where newer.entity_id = storage_history.entity_id
        and newer.storage_type = storage_history.storage_type
        and newer.day > storage_history.day and newer.day < ${day}::date)`)
    .execute()

export interface StoredDay {
  storage_type: string
  day: string
  used_bytes: number
}

/** The rows since a day, and before them the newest older one of each kind. */
export async function storedDays(db: Db, entityId: string, since: string): Promise<StoredDay[]> {
  const { rows } = await sql<StoredDay>`
    select storage_type, day::text as day, used_bytes from storage_history
    where entity_id = ${entityId} and day >= ${since}::date
    union all
    select * from (
      select distinct on (storage_type) storage_type, day::text as day, used_bytes
      from storage_history where entity_id = ${entityId} and day < ${since}::date
      order by storage_type, storage_history.day desc
    ) as before
    order by day`.execute(db)
  return rows
}

export const findOrganization = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('organizations')
    .select(['id', 'name', 'storage_quotas', 'total_storage_used'])
    .where('id', '=', id)
    .where(scope === 'platform' ? sql<boolean>`true` : sql<boolean>`id = ${scope.organization}`)
    .executeTakeFirst()

/** The largest children of an organization or a domain. */
export async function children(db: Db, type: EntityType, id: string, limit: number) {
  if (type === 'mailbox') return []
  const table =
    type === 'organization'
      ? sql`select domain as identifier, total_storage_used as used_bytes from domains
          where organization_id = ${id}`
      : sql`select email as identifier, storage_used as used_bytes from email_accounts
          where domain_id = ${id}`
  const { rows } = await sql<{ identifier: string; used_bytes: number }>`
    select * from (${table}) as child order by used_bytes desc, identifier limit ${limit}`.execute(
    db,
  )
  return rows
}

/** Mailboxes by the level of their last alert. */
export async function mailboxesOver(db: Db): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('storage_alerts')
    .select(['told', sql<number>`count(*)::int`.as('count')])
    .where('entity_type', '=', 'mailbox')
    .where('told', '<>', 'none')
    .groupBy('told')
    .execute()
  return Object.fromEntries(rows.map(({ told, count }) => [told, count]))
}

/** Mailboxes that have reached their quota, so that Dovecot refuses mail. */
export async function mailboxesFull(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from email_accounts
    where storage_quota > 0 and storage_used >= storage_quota / 100 * 95
      and storage_used >= storage_quota`.execute(db)
  return rows[0]?.count ?? 0
}

/** Seconds since the oldest mark was set; 0 without one. */
export async function pendingAge(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(greatest(extract(epoch from now() - min(marked_at)), 0), 0)::float8 as seconds
    from storage_pending`.execute(db)
  return rows[0]?.seconds ?? 0
}
