import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Owner } from '../store/collections.repository.ts'

export async function ownerEmail(db: Db, owner: Owner): Promise<string> {
  const found =
    'account_id' in owner
      ? db.selectFrom('email_accounts').select('email').where('id', '=', owner.account_id)
      : db.selectFrom('shared_mailboxes').select('email').where('id', '=', owner.shared_mailbox_id)
  return (await found.executeTakeFirst())?.email ?? ''
}

const columnOf = (owner: Owner) =>
  'account_id' in owner
    ? { column: sql.ref('c.account_id'), id: owner.account_id }
    : { column: sql.ref('c.shared_mailbox_id'), id: owner.shared_mailbox_id }

export interface FoundObject {
  collection_id: string
  uri: string
  etag: string
  data: string
  gone: boolean
  modified_at: string
  schedule_tag: string | null
}

/** The object with this UID in the calendars of an owner; a deleted one only when there is no other. */
export async function objectOf(
  db: Db,
  owner: Owner,
  uid: string,
): Promise<FoundObject | undefined> {
  const { column, id } = columnOf(owner)
  const { rows } = await sql<FoundObject>`
    select o.collection_id, o.uri, o.etag, o.data, o.gone, o.modified_at, o.schedule_tag
    from dav_objects o join dav_collections c on c.id = o.collection_id
    where o.uid = ${uid} and ${column} = ${id} and c.kind = 'calendar'
    order by o.gone, o.modified_at desc, o.collection_id limit 1`.execute(db)
  return rows[0]
}

/** The place of another object with this UID in the calendars of the same owner. */
export async function otherCalendarWith(
  db: Db,
  owner: Owner,
  uid: string,
  collectionId: string,
): Promise<{ collection: string; uri: string } | undefined> {
  const { column, id } = columnOf(owner)
  const { rows } = await sql<{ collection: string; uri: string }>`
    select c.uri as collection, o.uri
    from dav_objects o join dav_collections c on c.id = o.collection_id
    where o.uid = ${uid} and not o.gone and ${column} = ${id} and c.kind = 'calendar'
      and c.id <> ${collectionId}
    limit 1`.execute(db)
  return rows[0]
}

/** The calendar that invitations are added to: the chosen, the usual, or the oldest that takes them. */
export async function defaultCalendar(
  db: Db,
  owner: Owner,
  component: string,
): Promise<{ id: string; uri: string } | undefined> {
  const { column, id } = columnOf(owner)
  const { rows } = await sql<{ id: string; uri: string }>`
    select c.id, c.uri from dav_collections c
    where ${column} = ${id} and c.kind = 'calendar' and ${component} = any(c.components)
    order by c.chosen_at desc nulls last, c.uri <> 'calendar', c.created_at, c.uri limit 1`.execute(
    db,
  )
  return rows[0]
}

export interface Mailbox {
  email: string
  organization_id: string
  owner: Owner
}

/** The mailboxes and shared mailboxes of an organization with these addresses. */
export async function mailboxesAt(
  db: Db,
  organizationId: string,
  addresses: readonly string[],
): Promise<Mailbox[]> {
  const { rows } = await sql<{ id: string; email: string; is_shared: boolean }>`
    select id, email, false as is_shared from email_accounts
    where organization_id = ${organizationId} and email = any(${[...addresses]}::text[])
      and status = 'active'
    union all
    select id, email, true from shared_mailboxes
    where organization_id = ${organizationId} and email = any(${[...addresses]}::text[])
      and status = 'active'
    order by email`.execute(db)
  return rows.map(({ id, email, is_shared }) => ({
    email,
    organization_id: organizationId,
    owner: is_shared ? { shared_mailbox_id: id } : { account_id: id },
  }))
}
