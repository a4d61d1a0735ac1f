import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope, type Scope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'
import type { ListRow } from './entry-set.ts'

const PORTION = 10_000

export type EntryType = ListRow['entry_type']

const columns = [
  'id',
  'organization_id',
  'entry_type',
  'entry',
  'reason',
  'created_by',
  'created_at',
] as const

/** Null is the list of the operator. */
const ofList = (organizationId: string | null) =>
  sql<boolean>`organization_id is not distinct from ${organizationId}`

export async function list(
  db: Db,
  organizationId: string | null,
  entryType: EntryType | undefined,
  page: Page,
) {
  let query = db.selectFrom('url_blocklist').where(ofList(organizationId))
  if (entryType !== undefined) query = query.where('entry_type', '=', entryType)
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** The entries of one list; an organization has at most a few thousand. */
export const entriesOf = (db: Db, organizationId: string | null): Promise<ListRow[]> =>
  db
    .selectFrom('url_blocklist')
    .select(['entry_type', 'entry'])
    .where(ofList(organizationId))
    .execute()

/** Hosts that the organization or the operator allows: links to them stay as they are. */
export async function allowedHosts(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('url_blocklist')
    .select('entry')
    .where('entry_type', '=', 'allowlist')
    .where(sql<boolean>`(organization_id = ${organizationId} or organization_id is null)`)
    .execute()
  return rows.map(({ entry }) => entry).filter((entry) => !/[/:]/.test(entry))
}

/** All lists, in portions. */
export async function* allEntries(db: Db) {
  let last = ''
  for (;;) {
    const rows = await db
      .selectFrom('url_blocklist')
      .select(['id', 'organization_id', 'entry_type', 'entry'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(PORTION)
      .execute()
    yield* rows
    if (rows.length < PORTION) return
    last = rows.at(-1)?.id ?? ''
  }
}

/** Entries of one list are added one after the other, so that the limit holds. */
export const lockList = (tx: Tx, organizationId: string | null) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`url_blocklist ${organizationId ?? ''}`}, 0))`.execute(
    tx,
  )

export async function count(tx: Tx, organizationId: string | null, entryType: EntryType) {
  const isPattern = entryType === 'pattern'
  const { total } = await tx
    .selectFrom('url_blocklist')
    .select(sql<number>`count(*)`.as('total'))
    .where(ofList(organizationId))
    .where('entry_type', isPattern ? '=' : '<>', 'pattern')
    .executeTakeFirstOrThrow()
  return total
}

interface NewEntry {
  id: string
  organization_id: string | null
  entry_type: EntryType
  entry: string
  reason: string | null
  created_by: string | null
  created_at: string
}

export const insert = (tx: Tx, entry: NewEntry) =>
  tx.insertInto('url_blocklist').values(entry).returning(columns).executeTakeFirstOrThrow()

/** Undefined when there is no such entry: of the scope, or of the operator with null. */
export const remove = (tx: Tx, scope: Scope | null, id: string) =>
  tx
    .deleteFrom('url_blocklist')
    .where('id', '=', id)
    .where(scope === null ? ofList(null) : inScope('url_blocklist', scope))
    .where('organization_id', scope === null ? 'is' : 'is not', null)
    .returning(columns)
    .executeTakeFirst()
