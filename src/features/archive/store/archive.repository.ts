import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { StorageType } from '../storage/object-storage.ts'

export type Role = 'sender' | 'recipient'

/** The people of a message. */
export interface People {
  senders: readonly string[]
  recipients: readonly string[]
}

export interface NewArchived {
  id: string
  organization_id: string
  content_hash: Buffer
  message_id: string | null
  sender: string
  subject: string | null
  direction: 'inbound' | 'outbound'
  received_at: string
  archived_at: string
  size: number
  stored_size: number
  storage_key: string
  spool_id: string
  sealed_for: readonly string[]
}

/** Copies of a message for its people; `message` is a row with id, organization_id and received_at. */
const insertCopies = ({ senders, recipients }: People) => sql`
  insert into archived_copies (archive_id, role, address, organization_id, is_own, received_at)
  select message.id, person.role, person.address, message.organization_id, domains.id is not null,
    message.received_at
  from message
  cross join (
    select 'sender' as role, unnest(${[...senders]}::text[]) as address
    union
    select 'recipient', unnest(${[...recipients]}::text[])
  ) as person
  left join domains on domains.organization_id = message.organization_id
    and domains.domain = split_part(person.address, '@', -1)
  on conflict do nothing`

/** The settings and keys of an organization, and the message with this content if it is archived. */
export async function look(db: Db, organizationId: string, contentHash: Buffer) {
  const { rows } = await sql<{
    enabled: boolean
    own_key: string | null
    platform_key: string | null
    archive_id: string | null
  }>`
    select coalesce((select enabled from archive_settings
        where organization_id = ${organizationId}), true) as enabled,
      (select recipient from archive_keys
        where coalesce(organization_id, '') = ${organizationId} and retired_at is null) as own_key,
      (select recipient from archive_keys
        where coalesce(organization_id, '') = '' and retired_at is null) as platform_key,
      (select id from archived_messages
        where organization_id = ${organizationId} and content_hash = ${contentHash}) as archive_id
    `.execute(db)
  return rows[0] as NonNullable<(typeof rows)[0]>
}

/** Adds people to an archived message. False when it is not there any more. */
export async function addCopies(db: Db, id: string, people: People): Promise<boolean> {
  const { rows } = await sql`
    with message as (
      select id, organization_id, received_at from archived_messages where id = ${id} for key share
    ), copies as (${insertCopies(people)} returning archive_id), words as (
      update archived_messages
      set search = search || archive_words(null, '', ${[...people.recipients]}::text[])
      where id in (select archive_id from copies)
    )
    select id from message`.execute(db)
  return rows.length > 0
}

/** False when the organization has a message with this content already. */
export async function insert(db: Db, row: NewArchived, people: People): Promise<boolean> {
  const { rows } = await sql`
    with message as (
      insert into archived_messages (id, organization_id, content_hash, message_id, sender, subject,
        direction, received_at, archived_at, size, stored_size, storage_key, spool_id, sealed_for, search)
      values (${row.id}, ${row.organization_id}, ${row.content_hash}, ${row.message_id}, ${row.sender},
        ${row.subject}, ${row.direction}, ${row.received_at}, ${row.archived_at}, ${row.size},
        ${row.stored_size}, ${row.storage_key}, ${row.spool_id}, ${[...row.sealed_for]}::text[],
        archive_words(${row.subject}, ${row.sender}, ${[...people.recipients]}::text[]))
      on conflict (organization_id, content_hash) do nothing
      returning id, organization_id, received_at
    ), copies as (${insertCopies(people)} returning archive_id)
    select nextval('archive_taken_spool') from message`.execute(db)
  return rows.length > 0
}

export interface Waiting {
  id: string
  storage_key: string
}

/** Files of a spool that wait for their upload, oldest first. */
export const waiting = (db: Db, spoolId: string, now: Date, limit: number) =>
  db
    .selectFrom('archived_messages')
    .select(['id', 'storage_key'])
    .where('storage_type', '=', 'spool')
    .where('spool_id', '=', spoolId)
    .where('retry_at', '<=', now.toISOString())
    .orderBy('id')
    .limit(limit)
    .execute()

export interface Uploaded {
  id: string
  organization_id: string
  message_id: string | null
  storage_key: string
  stored_size: number
  legal_hold: boolean
}

/** Marks files as uploaded. A row that was deleted or uploaded by another process is not returned. */
export async function setUploaded(tx: Tx, ids: readonly string[], type: StorageType, now: Date) {
  const { rows } = await sql<Uploaded>`
    update archived_messages set storage_type = ${type}, spool_id = null
    where id = any(${[...ids]}::text[]) and storage_type = 'spool'
    returning nextval(${`archive_taken_${type}`}::regclass), id, organization_id, message_id, storage_key, stored_size,
      exists (select from archived_copies copies
        where copies.archive_id = archived_messages.id and copies.is_own
          and is_held(archived_messages.organization_id, copies.address, ${now.toISOString()}))
        as legal_hold`.execute(tx)
  return rows
}

export const existing = async (db: Db, ids: readonly string[]): Promise<Set<string>> => {
  const rows = await db
    .selectFrom('archived_messages')
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Lets others go first; the pause grows with the age of the message, from half a minute to ten minutes.
 * False when the message does not wait any more.
 */
export async function retryLater(db: Db, id: string, now: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update archived_messages set retry_at = ${now.toISOString()}::timestamptz
      + least(greatest(${now.toISOString()}::timestamptz - archived_at, interval '30 seconds'),
        interval '10 minutes')
    where id = ${id} and storage_type = 'spool'`.execute(db)
  return numAffectedRows === 1n
}

/** Files of a spool that are tried again later. */
export async function countLater(db: Db, spoolId: string, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from archived_messages
    where storage_type = 'spool' and spool_id = ${spoolId} and retry_at > ${now.toISOString()}`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** The names of spool files, without their folder, that rows still wait for. */
export async function stillWaiting(db: Db, spoolId: string, ids: readonly string[]) {
  const rows = await db
    .selectFrom('archived_messages')
    .select(['storage_key'])
    .where('spool_id', '=', spoolId)
    .where('storage_type', '=', 'spool')
    .where('id', 'in', [...ids, ''])
    .execute()
  return new Set(rows.map(({ storage_key }) => storage_key.slice(storage_key.lastIndexOf('/') + 1)))
}

export interface Stored {
  id: string
  organization_id: string
  content_hash: Buffer
  message_id: string | null
  storage_type: 'spool' | StorageType
  storage_key: string
  spool_id: string | null
}

const stored = [
  ...(['id', 'organization_id', 'content_hash', 'message_id'] as const),
  ...(['storage_type', 'storage_key', 'spool_id'] as const),
] as const

export const findStored = (db: Db, organizationId: string, id: string) =>
  db
    .selectFrom('archived_messages')
    .select(stored)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()

export const storedById = (db: Db, id: string) =>
  db.selectFrom('archived_messages').select(stored).where('id', '=', id).executeTakeFirst()

/** Archived messages of an organization in the order of their ids. */
export const storedAfter = (db: Db, organizationId: string, after: string, limit: number) =>
  db
    .selectFrom('archived_messages')
    .select(stored)
    .where('organization_id', '=', organizationId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

/** The first and the last object in storage; the same twice, or none. */
export async function oldestAndNewest(db: Db): Promise<Stored[]> {
  const end = (direction: 'asc' | 'desc') =>
    db
      .selectFrom('archived_messages')
      .select(stored)
      .where('storage_type', '<>', 'spool')
      .orderBy('id', direction)
      .limit(1)
      .executeTakeFirst()
  const ends = await Promise.all([end('asc'), end('desc')])
  return ends.filter((row) => row !== undefined)
}

/** A random sample of the objects in storage. */
export async function sample(db: Db, limit: number): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    select ${sql.join(stored.map((column) => sql.ref(column)))} from archived_messages
    where storage_type <> 'spool' order by random() limit ${limit}`.execute(db)
  return rows
}

/** Locked, so that a hold that is placed meanwhile is seen. */
export async function isHeld(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from archived_copies
    where archive_id = ${id}
      and is_held(organization_id, address, ${now.toISOString()}::timestamptz) limit 1`.execute(tx)
  return rows.length > 0
}

export const remove = (tx: Tx, organizationId: string, id: string) =>
  tx
    .deleteFrom('archived_messages')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(['id', 'message_id', 'storage_key'])
    .executeTakeFirst()
