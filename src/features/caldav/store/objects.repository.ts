import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Kind } from '../protocol/places.ts'
import { advancing, type Growth, type Owner, totals, type Usage } from './collections.repository.ts'
import { slice } from './slice.ts'

export interface StoredObject {
  uri: string
  etag: string
  component: string | null
  size: number
  modified_at: string
  schedule_tag: string | null
  /** Present when it was asked for. */
  data?: string
}

const COLUMNS = ['uri', 'etag', 'component', 'size', 'modified_at', 'schedule_tag'] as const
/** Rows with data are read in small numbers, because a batch is compared with a filter within one time limit. */
const BATCH = { withData: 50, without: 1000 }

const present = (db: Db, collectionId: string, withData: boolean) =>
  db
    .selectFrom('dav_objects')
    .select(COLUMNS)
    .$if(withData, (query) => query.select('data'))
    .where('collection_id', '=', collectionId)
    .where('gone', '=', false)

/** Conditions that narrow the objects which a query has to look at. */
export interface Narrowing {
  component?: string | undefined
  /** Seconds since 1970. */
  from?: number | undefined
  to?: number | undefined
  /** Dates and times without a zone count in one, not in UTC. */
  isZoned?: boolean
}

/** The bounds of objects are stored in UTC; zones are up to 14 hours away from it. */
const ZONE_SECONDS = 14 * 3600

/** All objects of a collection, in batches. */
export async function* list(
  db: Db,
  collectionId: string,
  withData: boolean,
  { component, from, to, isZoned }: Narrowing = {},
): AsyncGenerator<StoredObject[]> {
  const margin = isZoned ? ZONE_SECONDS : 0
  const limit = withData ? BATCH.withData : BATCH.without
  let after = ''
  for (;;) {
    const page = present(db, collectionId, withData)
      .$if(component !== undefined, (query) => query.where('component', '=', component as string))
      .$if(to !== undefined, (query) => query.where('first_at', '<=', Number(to) + margin))
      .$if(from !== undefined, (query) => query.where('last_at', '>=', Number(from) - margin))
      .where('uri', '>', after)
      .orderBy('uri')
      .limit(limit)
    const { rows, isWholePage } = await slice(db, page, 'uri')
    if (rows.length > 0) yield rows
    if (isWholePage && rows.length < limit) return
    after = rows.at(-1)?.uri ?? ''
  }
}

/** The named objects, in batches. */
export async function* named(
  db: Db,
  collectionId: string,
  names: readonly string[],
  withData: boolean,
): AsyncGenerator<StoredObject[]> {
  const limit = withData ? BATCH.withData : BATCH.without
  for (let start = 0; start < names.length; start += limit) {
    const part = names.slice(start, start + limit)
    let after = ''
    for (;;) {
      const page = present(db, collectionId, withData)
        .where(sql<SqlBool>`uri = any(${part}::text[])`)
        .where('uri', '>', after)
      const { rows, isWholePage } = await slice(db, page, 'uri')
      yield rows
      if (isWholePage) break
      after = rows.at(-1)?.uri ?? ''
    }
  }
}

export interface WholeObject extends StoredObject {
  data: string
  uid: string
}

export const find = (db: Db, collectionId: string, uri: string): Promise<WholeObject | undefined> =>
  db
    .selectFrom('dav_objects')
    .select([...COLUMNS, 'data', 'uid'])
    .where('collection_id', '=', collectionId)
    .where('uri', '=', uri)
    .where('gone', '=', false)
    .executeTakeFirst()

/** An object of a mailbox, by the names of its collection and its own. */
export const findOwn = (
  db: Db,
  accountId: string,
  collection: { kind: Kind; uri: string },
  uri: string,
) =>
  db
    .selectFrom('dav_objects')
    .select([...COLUMNS, 'data'])
    .where('collection_id', '=', (eb) =>
      eb
        .selectFrom('dav_collections as c')
        .select('c.id')
        .where('c.account_id', '=', accountId)
        .where('c.kind', '=', collection.kind)
        .where('c.uri', '=', collection.uri),
    )
    .where('uri', '=', uri)
    .where('gone', '=', false)
    .executeTakeFirst()

/** Without its data. */
export const findPlain = (db: Db, collectionId: string, uri: string) =>
  db
    .selectFrom('dav_objects')
    .select([...COLUMNS, 'uid'])
    .where('collection_id', '=', collectionId)
    .where('uri', '=', uri)
    .where('gone', '=', false)
    .executeTakeFirst()

/** The name of the object with this UID. */
export const findByUid = async (db: Db, collectionId: string, uid: string) =>
  (
    await db
      .selectFrom('dav_objects')
      .select('uri')
      .where('collection_id', '=', collectionId)
      .where('uid', '=', uid)
      .where('gone', '=', false)
      .executeTakeFirst()
  )?.uri

export interface BeforePut {
  /** The object of this name. */
  before: Pick<WholeObject, 'etag' | 'schedule_tag' | 'size' | 'uid'> | undefined
  /** The name of the object with this UID. */
  sameUid: string | null
  used: Pick<Usage, 'bytes' | 'objects'>
}

/** Everything in the store that decides whether an object may be stored. */
export async function beforePut(
  tx: Tx,
  owner: Owner,
  collectionId: string,
  { uri, uid }: { uri: string; uid: string },
): Promise<BeforePut> {
  const row = await tx
    .selectFrom(totals(tx, owner).as('used'))
    .leftJoin('dav_objects as present', (join) =>
      join
        .on('present.collection_id', '=', collectionId)
        .on('present.uri', '=', uri)
        .on('present.gone', '=', false),
    )
    .leftJoin('dav_objects as same', (join) =>
      join
        .on('same.collection_id', '=', collectionId)
        .on('same.uid', '=', uid)
        .on('same.gone', '=', false),
    )
    .select(['present.etag', 'present.schedule_tag', 'present.size', 'present.uid'])
    .select(['same.uri as sameUid', 'used.bytes', 'used.objects'])
    .executeTakeFirstOrThrow()
  const { etag, schedule_tag, size, uid: uidBefore, sameUid } = row
  return {
    before:
      etag === null ? undefined : { etag, schedule_tag, size: size ?? 0, uid: uidBefore ?? '' },
    sameUid,
    used: { bytes: Number(row.bytes), objects: Number(row.objects) },
  }
}

export interface NewObject {
  uri: string
  etag: string
  data: string
  size: number
  uid: string
  component: string | null
  first_at: number | null
  last_at: number | null
  /** Null for an object without attendees. */
  schedule_tag?: string | null
}

/** Stores an object as the next change of its locked collection. */
export const put = (tx: Tx, collectionId: string, object: NewObject, growth: Growth, now: Date) => {
  const values = { schedule_tag: null, ...object, gone: false, modified_at: now.toISOString() }
  const replaced = [...(Object.keys(values) as (keyof typeof values)[]), 'seq' as const]
  return tx
    .with('advanced', (db) => advancing(db, collectionId, growth))
    .insertInto('dav_objects')
    .values((eb) => ({
      collection_id: collectionId,
      ...values,
      seq: eb.selectFrom('advanced').select('seq'),
    }))
    .onConflict((conflict) =>
      conflict
        .columns(['collection_id', 'uri'])
        .doUpdateSet((eb) =>
          Object.fromEntries(replaced.map((name) => [name, eb.ref(`excluded.${name}`)])),
        ),
    )
    .execute()
}

export const remove = (tx: Tx, collectionId: string, uri: string, seq: number, now: Date) =>
  tx
    .updateTable('dav_objects')
    .set({ gone: true, data: '', size: 0, schedule_tag: null, seq, modified_at: now.toISOString() })
    .where('collection_id', '=', collectionId)
    .where('uri', '=', uri)
    .execute()

export interface Change extends StoredObject {
  seq: number
  gone: boolean
}

/** Changes after one number and up to another, in their order. The first time deletions are left out. */
export async function* changes(
  db: Db,
  collectionId: string,
  { since, upTo, limit }: { since: number; upTo: number; limit: number },
  withData: boolean,
): AsyncGenerator<Change[]> {
  const batch = withData ? BATCH.withData : BATCH.without
  let after = since
  let left = limit
  while (left > 0) {
    const size = Math.min(batch, left)
    const page = db
      .selectFrom('dav_objects')
      .select([...COLUMNS, 'seq', 'gone'])
      .$if(withData, (query) => query.select('data'))
      .where('collection_id', '=', collectionId)
      .where('seq', '>', after)
      .where('seq', '<=', upTo)
      .$if(since === 0, (query) => query.where('gone', '=', false))
      .orderBy('seq')
      .limit(size)
    const { rows, isWholePage } = await slice(db, page, 'seq')
    if (rows.length > 0) yield rows
    if (isWholePage && rows.length < size) return
    left -= rows.length
    after = rows.at(-1)?.seq ?? after
  }
}

/** Removes the rows of old deletions. Returns their number; 0 ends the loop. */
export async function forgetDeletions(db: Db, before: Date): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    with old as (
      select collection_id, uri from dav_objects
      where gone and modified_at < ${before.toISOString()}::timestamptz
      limit 1000
    ), locked as (
      select id from dav_collections
      where id in (select collection_id from old) order by id for update
    ), removed as (
      delete from dav_objects o using old, locked
      where o.collection_id = old.collection_id and o.uri = old.uri and o.gone
        and locked.id = o.collection_id
      returning o.collection_id, o.seq
    ), noted as (
      update dav_collections c set forgotten_seq = greatest(c.forgotten_seq, newest.seq)
      from (select collection_id, max(seq) as seq from removed group by collection_id) as newest
      where c.id = newest.collection_id
    )
    select count(*)::integer as removed from removed`.execute(db)
  return rows[0]?.removed ?? 0
}
