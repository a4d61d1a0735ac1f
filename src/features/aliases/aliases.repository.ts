import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import { inSight } from '../../database/addresses.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, searchPageAndTotal, withIds } from '../../database/paging.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import { pastMessages } from '../../hosting/past-days.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { type Hop, lookups } from './forwarding-loop.ts'

const LOCK = 5_377_010

/**
 * Serializes changes of forwarding over all tenants. Otherwise two concurrent changes could together
 * close a loop that neither of them sees. A new alias that leads to mailboxes and other hosts only can
 * close none, so such aliases are created beside each other.
 */
export async function lockForwarding(tx: Tx, destinations?: string[]): Promise<void> {
  const isEnd = destinations !== undefined && !(await leadOn(tx, destinations))
  const lock = sql.raw(isEnd ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  await sql`select ${lock}(${LOCK})`.execute(tx)
}

/** True when one of the addresses is of a domain here but of no mailbox: an alias may take its mail. */
async function leadOn(tx: Tx, destinations: string[]): Promise<boolean> {
  const { rows } = await sql<{ leads: boolean }>`
    select exists (
      select from unnest(${destinations}::text[]) as sent (address)
      where exists (select from domains where domain = split_part(sent.address, '@', -1))
        and not exists (
          select from addresses
          where addresses.address = sent.address and kind in ('mailbox', 'shared_mailbox')
            and claim_id = '')
    ) as leads`.execute(tx)
  return rows[0]?.leads ?? true
}

export const columns = [
  'aliases.id',
  'aliases.source',
  'aliases.destination',
  'aliases.destinations',
  'aliases.domain_id',
  'aliases.organization_id',
  'aliases.active',
  'aliases.created_at',
  'aliases.updated_at',
] as const

/** Counts accepted messages; several delivery attempts count once. */
const forwards = sql<number>`count(distinct coalesce(mail_log.message_id, mail_log.queue_id, mail_log.id))`

/** Excludes log entries of an earlier owner of the address. */
const ofTheAlias = sql<SqlBool>`
  (mail_log.recipient = aliases.source or mail_log.original_recipient = aliases.source)
  and mail_log.status in ('sent', 'delivered')
  and (mail_log.organization_id is null or mail_log.organization_id = aliases.organization_id)`

const withForwards = (db: Db, since: Date) =>
  db
    .selectFrom('aliases')
    .innerJoin('domains', 'domains.id', 'aliases.domain_id')
    .select([
      ...columns,
      'domains.description as domain_description',
      sql<number>`cardinality(aliases.destinations)`.as('destination_count'),
      // The log has recipient addresses, so mail of a catch-all cannot be counted.
      sql<number | null>`case when aliases.source not like '@%' then (
        select ${forwards} from mail_log
        where ${ofTheAlias} and mail_log.timestamp >= ${since.toISOString()}::timestamptz
      ) + (
        select coalesce(sum(messages), 0)::bigint
        from (${pastMessages('alias', sql.ref('aliases.id'), since)}) as past
      ) end`.as('monthly_forwards'),
    ])

/** The id or the source of an alias. */
export interface Name {
  id: string
  source: string
}

const named = ({ id, source }: Name) =>
  sql<SqlBool>`(aliases.id = ${id} or aliases.source = ${source})`

export const find = (db: Db, scope: Scope, name: Name, since: Date) =>
  withForwards(db, since).where(named(name)).where(inScope('aliases', scope)).executeTakeFirst()

interface AliasFilter {
  active?: boolean
  q?: string
  domainId?: string
}

export async function list(
  db: Db,
  scope: Scope,
  { active, q, domainId }: AliasFilter,
  sort: Sort<'source' | 'created_at'>,
  page: Page,
  since: Date,
) {
  let query = db.selectFrom('aliases').where(inScope('aliases', scope))
  if (active !== undefined) query = query.where('aliases.active', '=', active)
  if (domainId !== undefined) query = query.where('aliases.domain_id', '=', domainId)
  if (q) query = query.where(contains(['aliases.source', 'aliases.destination'], q))
  const { ids, total } = q
    ? await searchPageAndTotal(db, query, 'aliases', sort, page)
    : await pageAndTotal(db, query, 'aliases', sort, page)
  const rows = await withForwards(db, since).where(withIds('aliases', ids)).execute()
  return { items: inOrder(ids, rows), total }
}

/** Deletes the aliases whose only destination is this address; returns them. */
export const removeLeadingOnlyTo = (tx: Tx, organizationId: string, address: string) =>
  tx
    .deleteFrom('aliases')
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`destinations @> ${[address]} and destinations <@ ${[address]}`)
    .returning(['id', 'source'])
    .execute()

/** Removes this address from the destinations of the other aliases. */
export const dropDestination = (tx: Tx, organizationId: string, address: string, now: Date) =>
  tx
    .updateTable('aliases')
    .set({
      destinations: sql`array_remove(destinations, ${address})`,
      destination: sql`array_to_string(array_remove(destinations, ${address}), ', ')`,
      updated_at: now.toISOString(),
    })
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`destinations @> ${[address]}`)
    .returning(['id', 'source'])
    .execute()

/** Locks the alias but not its domain: a domain deletion locks the domain first, then its aliases. */
export const lock = (tx: Tx, scope: Scope, name: Name) =>
  tx
    .selectFrom('aliases')
    .innerJoin('domains', 'domains.id', 'aliases.domain_id')
    .select([...columns, 'domains.domain', 'domains.active as domain_active'])
    .where(named(name))
    .where(inScope('aliases', scope))
    .forUpdate('aliases')
    .executeTakeFirst()

interface AliasFields {
  destination?: string
  destinations?: string[]
  active?: boolean
}

export const insert = (
  tx: Tx,
  fields: Required<AliasFields> & {
    id: string
    organization_id: string
    domain_id: string
    source: string
  },
) => tx.insertInto('aliases').values(fields).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: AliasFields, now: Date) =>
  tx
    .updateTable('aliases')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('aliases').where('id', '=', id).execute()

/**
 * Maps each address to the active alias that takes its mail; a mailbox takes precedence. Addresses of
 * pending domains count only for their owner: other tenants' mail does not reach them.
 */
export async function routes(tx: Tx, scope: Scope, addresses: string[]): Promise<Map<string, Hop>> {
  const hops = new Map<string, Hop>()
  if (addresses.length === 0) return hops
  const candidates = [...new Set(addresses.flatMap(lookups))]
  const rows = await tx
    .selectFrom('aliases')
    .innerJoin('addresses', 'addresses.owner_id', 'aliases.id')
    .select(['source', 'organization_id', 'destinations'])
    .where(sql<SqlBool>`source = any(${candidates}::text[])`)
    .where('active', '=', true)
    .where(inSight(scope))
    .execute()
  if (rows.length === 0) return hops
  const bySource = new Map(rows.map((row) => [row.source, row]))
  const mailboxes = await withMailbox(tx, scope, candidates)
  for (const address of addresses) {
    const taker = lookups(address).find((lookup) => bySource.has(lookup) || mailboxes.has(lookup))
    const alias = taker === undefined ? undefined : bySource.get(taker)
    if (alias) hops.set(address, alias)
  }
  return hops
}

async function withMailbox(tx: Tx, scope: Scope, addresses: string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('addresses')
    .select('address')
    .where(sql<SqlBool>`address = any(${addresses}::text[])`)
    .where('kind', 'in', ['mailbox', 'shared_mailbox'])
    .where(inSight(scope))
    .execute()
  return new Set(rows.map(({ address }) => address))
}

export const counts = (db: Db, domainId: string) =>
  db
    .selectFrom('aliases')
    .select([
      sql<number>`count(*)`.as('total_aliases'),
      sql<number>`count(*) filter (where active)`.as('active_aliases'),
      sql<number>`count(*) filter (where not active)`.as('inactive_aliases'),
    ])
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()

export const topDestinations = (db: Db, domainId: string, limit: number) =>
  db
    .selectFrom('aliases')
    .select(['destination', sql<number>`count(*)`.as('usage_count')])
    .where('domain_id', '=', domainId)
    .where('active', '=', true)
    .groupBy('destination')
    .orderBy('usage_count', 'desc')
    .orderBy('destination')
    .limit(limit)
    .execute()

/** Days that have moved to ClickHouse are counted as a whole. */
export async function dailyForwards(db: Db, domainId: string, since: Date) {
  const past = pastMessages('alias', sql.ref('aliases.id'), since)
  const { rows } = await sql<{ date: string; forwards_count: number }>`
    select date, sum(messages)::bigint as forwards_count from (
      select to_char(mail_log.timestamp at time zone 'UTC', 'YYYY-MM-DD') as date,
        ${forwards} as messages
      from aliases join mail_log on ${ofTheAlias}
      where aliases.domain_id = ${domainId}
        and mail_log.timestamp >= ${since.toISOString()}::timestamptz
      group by 1
      union all
      select past.day::text, past.messages from aliases cross join lateral (${past}) as past
      where aliases.domain_id = ${domainId}
    ) as counted
    group by date order by date`.execute(db)
  return rows
}
