import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Kind } from '../protocol/places.ts'

/** The mailbox or shared mailbox that a collection belongs to. */
export type Owner = { account_id: string } | { shared_mailbox_id: string }

export interface CollectionRow {
  id: string
  organization_id: string
  kind: Kind
  uri: string
  properties: Record<string, string>
  components: string[]
  seq: number
  forgotten_seq: number
  object_count: number
  bytes: number
}

const COLUMNS = [
  'id',
  'organization_id',
  'kind',
  'uri',
  'properties',
  'components',
  'seq',
  'forgotten_seq',
  'object_count',
  'bytes',
] as const

const isOwner = (owner: Owner): Expression<SqlBool> =>
  'account_id' in owner
    ? sql<SqlBool>`account_id = ${owner.account_id}`
    : sql<SqlBool>`shared_mailbox_id = ${owner.shared_mailbox_id}`

const of = (db: Db, owner: Owner) =>
  db.selectFrom('dav_collections').select(COLUMNS).where(isOwner(owner))

export const list = (db: Db, owner: Owner, kind: Kind) =>
  of(db, owner).where('kind', '=', kind).orderBy('created_at').orderBy('uri').execute() as Promise<
    CollectionRow[]
  >

export const find = (db: Db, owner: Owner, kind: Kind, uri: string) =>
  of(db, owner).where('kind', '=', kind).where('uri', '=', uri).executeTakeFirst() as Promise<
    CollectionRow | undefined
  >

/** Every write of an object locks its collection first. */
export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('dav_collections')
    .select(COLUMNS)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst() as Promise<CollectionRow | undefined>

interface NewCollection {
  id: string
  organization_id: string
  kind: Kind
  uri: string
  properties: Record<string, string>
  components: string[]
}

/** False when the name is in use. */
export async function insert(db: Db, owner: Owner, values: NewCollection): Promise<boolean> {
  const inserted = await db
    .insertInto('dav_collections')
    .values({ ...values, ...owner })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export const hasAny = async (db: Db, owner: Owner): Promise<boolean> =>
  (await db
    .selectFrom('dav_collections')
    .select('id')
    .where(isOwner(owner))
    .limit(1)
    .executeTakeFirst()) !== undefined

export const remove = (db: Db, id: string) =>
  db.deleteFrom('dav_collections').where('id', '=', id).execute()

/** The difference that a change makes to the sums of a collection. */
export interface Growth {
  objects: number
  bytes: number
}

/** Moves the counter of changes and the sums; returns the number of this change. */
export const advancing = (db: Pick<Db, 'updateTable'>, id: string, growth: Growth) =>
  db
    .updateTable('dav_collections')
    .set((eb) => ({
      seq: eb('seq', '+', 1),
      object_count: eb('object_count', '+', growth.objects),
      bytes: eb('bytes', '+', growth.bytes),
    }))
    .where('id', '=', id)
    .returning('seq')

export async function advance(tx: Tx, id: string, growth: Growth): Promise<number> {
  const { seq } = await advancing(tx, id, growth).executeTakeFirstOrThrow()
  return seq
}

export const setProperties = (tx: Tx, id: string, properties: Record<string, string>) =>
  tx.updateTable('dav_collections').set({ properties }).where('id', '=', id).execute()

/** Chooses the calendar for new invitations; undefined takes all choices back. False if it is gone. */
export async function choose(
  db: Db,
  owner: Owner,
  id: string | undefined,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dav_collections')
    .set({ chosen_at: id === undefined ? null : now.toISOString() })
    .where(isOwner(owner))
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The total of all collections of an owner, as one row. */
export const totals = (db: Db, owner: Owner) =>
  db
    .selectFrom('dav_collections')
    .select((eb) => [
      eb.fn.coalesce(eb.fn.sum<number>('bytes'), sql<number>`0`).as('bytes'),
      eb.fn.coalesce(eb.fn.sum<number>('object_count'), sql<number>`0`).as('objects'),
      eb.fn.countAll<number>().as('collections'),
    ])
    .where(isOwner(owner))

export interface Usage {
  bytes: number
  objects: number
  collections: number
}

export async function usage(db: Db, owner: Owner): Promise<Usage> {
  const { bytes, objects, collections } = await totals(db, owner).executeTakeFirstOrThrow()
  return { bytes: Number(bytes), objects: Number(objects), collections: Number(collections) }
}

export interface SharedMailbox {
  id: string
  email: string
  organization_id: string
  permission: string
}

/** The shared mailboxes of which an account is a member. */
export const sharedWith = (db: Db, accountId: string): Promise<SharedMailbox[]> =>
  db
    .selectFrom('shared_mailbox_members')
    .innerJoin(
      'shared_mailboxes',
      'shared_mailboxes.id',
      'shared_mailbox_members.shared_mailbox_id',
    )
    .innerJoin('domains', 'domains.id', 'shared_mailboxes.domain_id')
    .select([
      'shared_mailboxes.id',
      'shared_mailboxes.email',
      'shared_mailboxes.organization_id',
      'shared_mailbox_members.permission',
    ])
    .where('shared_mailbox_members.email_account_id', '=', accountId)
    .where('shared_mailboxes.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .orderBy('shared_mailboxes.email')
    .execute()
