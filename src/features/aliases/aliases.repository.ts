import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageOf, withIds } from '../../database/pages.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { type Hop, lookups } from './forwarding-loop.ts'

const LOCK = 5_377_010

/**
 * Changes of where mail goes wait for each other, over all tenants: only so can none of them close a
 * loop with another that is not yet stored.
 */
export const lockForwarding = (tx: Tx) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)

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

/** Accepted messages, once each however often delivery was tried. */
const forwards = sql<number>`count(distinct coalesce(mail_log.message_id, mail_log.queue_id, mail_log.id))`

/** The log may remember an earlier owner of the address. */
const ofTheAlias = sql<SqlBool>`
  (mail_log.recipient = aliases.source or mail_log.original_recipient = aliases.source)
  and mail_log.status in ('sent', 'delivered')
  and (mail_log.organization_id is null or mail_log.organization_id = aliases.organization_id)`

const shown = (db: Db, since: Date) =>
  db
    .selectFrom('aliases')
    .innerJoin('domains', 'domains.id', 'aliases.domain_id')
    .select([
      ...columns,
      'domains.description as domain_description',
      sql<number>`cardinality(aliases.destinations)`.as('destination_count'),
      // The log has the addresses that mail came for, and a catch-all is none of them.
      sql<number | null>`case when aliases.source not like '@%' then (
        select ${forwards} from mail_log
        where ${ofTheAlias} and mail_log.timestamp >= ${since.toISOString()}::timestamptz
      ) end`.as('monthly_forwards'),
    ])

/** What a caller names an alias by: its id or its source. */
export interface Name {
  id: string
  source: string
}

const named = ({ id, source }: Name) =>
  sql<SqlBool>`(aliases.id = ${id} or aliases.source = ${source})`

export const find = (db: Db, scope: Scope, name: Name, since: Date) =>
  shown(db, since).where(named(name)).where(inScope('aliases', scope)).executeTakeFirst()

export interface AliasFilter {
  active: boolean
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
  let query = db
    .selectFrom('aliases')
    .where('aliases.active', '=', active)
    .where(inScope('aliases', scope))
  if (domainId !== undefined) query = query.where('aliases.domain_id', '=', domainId)
  if (q) query = query.where(contains(['aliases.source', 'aliases.destination'], q))
  const ids = await pageOf(query, 'aliases', sort, page)
  const rows = await shown(db, since).where(withIds('aliases', ids)).execute()
  return inOrder(ids, rows)
}

/** Aliases that led to nothing but this address go; answers which. */
export const removeLeadingOnlyTo = (tx: Tx, organizationId: string, address: string) =>
  tx
    .deleteFrom('aliases')
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`destinations @> ${[address]} and destinations <@ ${[address]}`)
    .returning(['id', 'source'])
    .execute()

/** The others lead to what is left. */
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

/** Holds the alias, but not its domain: who deletes that takes it first and the aliases second. */
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

/** Which active alias takes mail for each address; where there is a mailbox, none does. */
export async function routes(tx: Tx, addresses: string[]): Promise<Map<string, Hop>> {
  const found = new Map<string, Hop>()
  if (addresses.length === 0) return found
  const candidates = [...new Set(addresses.flatMap(lookups))]
  const rows = await tx
    .selectFrom('aliases')
    .select(['source', 'organization_id', 'destinations'])
    .where(sql<SqlBool>`source = any(${candidates}::text[])`)
    .where('active', '=', true)
    .execute()
  if (rows.length === 0) return found
  const bySource = new Map(rows.map((row) => [row.source, row]))
  const held = await withMailbox(tx, candidates)
  for (const address of addresses) {
    const taker = lookups(address).find((lookup) => bySource.has(lookup) || held.has(lookup))
    const alias = taker === undefined ? undefined : bySource.get(taker)
    if (alias) found.set(address, alias)
  }
  return found
}

async function withMailbox(tx: Tx, addresses: string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('addresses')
    .select('address')
    .where(sql<SqlBool>`address = any(${addresses}::text[])`)
    .where('kind', 'in', ['mailbox', 'shared_mailbox'])
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

export const dailyForwards = (db: Db, domainId: string, since: Date) =>
  db
    .selectFrom('aliases')
    .innerJoin('mail_log', (join) => join.on(ofTheAlias))
    .select([
      sql<string>`to_char(mail_log.timestamp at time zone 'UTC', 'YYYY-MM-DD')`.as('date'),
      forwards.as('forwards_count'),
    ])
    .where('aliases.domain_id', '=', domainId)
    .where('mail_log.timestamp', '>=', since.toISOString())
    .groupBy('date')
    .orderBy('date')
    .execute()
