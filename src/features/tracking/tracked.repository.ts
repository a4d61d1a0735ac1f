import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export interface TrackedCopy {
  id: string
  recipient: string
  organization_id: string
  domain_id: string | null
  domain: string
  email_id: string
  sent_at: string | null
}

const copies = (db: Db) =>
  db
    .selectFrom('tracked_recipients')
    .innerJoin('tracked_messages', 'tracked_messages.id', 'tracked_recipients.message_id')
    .select([
      'tracked_recipients.id',
      'tracked_recipients.recipient',
      'tracked_recipients.sent_at',
      'tracked_messages.organization_id',
      'tracked_messages.domain_id',
      'tracked_messages.domain',
      'tracked_messages.email_id',
    ])

export const findCopies = (db: Db, ids: string[]): Promise<TrackedCopy[]> =>
  copies(db).where(sql<boolean>`tracked_recipients.id = any(${ids}::text[])`).execute()

/** Locks the row, so that two unsubscribes at the same time run one after the other. */
export const lockCopy = (tx: Tx, id: string) =>
  copies(tx)
    .where('tracked_recipients.id', '=', id)
    .forUpdate('tracked_recipients')
    .executeTakeFirst()

export const findOrganization = async (db: Db, id: string): Promise<string | undefined> =>
  (await copies(db).where('tracked_recipients.id', '=', id).executeTakeFirst())?.organization_id

/** Undefined when the link does not exist or was deleted. */
export const findTarget = async (db: Db, copy: string, position: number) => {
  const row = await db
    .selectFrom('tracked_recipients')
    .innerJoin('tracked_links', 'tracked_links.message_id', 'tracked_recipients.message_id')
    .select('tracked_links.url')
    .where('tracked_recipients.id', '=', copy)
    .where('tracked_links.position', '=', position)
    .executeTakeFirst()
  return row?.url
}

interface NewTracked {
  id: string
  organization_id: string
  domain_id: string | null
  domain: string
  email_id: string
  links: string[]
  copies: { id: string; recipient: string }[]
  sent_at: string | null
  created_at: string
}

/** Stores a message with its links and recipients in one statement. */
export async function insertTracked(db: Db, message: NewTracked): Promise<void> {
  const { id, organization_id, domain_id, domain, email_id, links, sent_at, created_at } = message
  await sql`
    with message as (
      insert into tracked_messages (id, organization_id, domain_id, domain, email_id, created_at)
      values (${id}, ${organization_id}, ${domain_id}, ${domain}, ${email_id}, ${created_at})
    ), links as (
      insert into tracked_links (message_id, position, url)
      select ${id}, place - 1, url
      from unnest(${links}::text[]) with ordinality as link (url, place)
    )
    insert into tracked_recipients (id, message_id, recipient, sent_at)
    select copy, ${id}, recipient, ${sent_at}::timestamptz
    from unnest(${message.copies.map((copy) => copy.id)}::text[],
      ${message.copies.map(({ recipient }) => recipient)}::text[]) as copies (copy, recipient)
  `.execute(db)
}

export interface Login {
  organization_id: string
  tracking_enabled: boolean
  domain_id: string
  domain: string
}

/** The SMTP credential that logs in with this name, and whether it and its domain are tracked. */
export const findLogin = (db: Db, username: string): Promise<Login | undefined> =>
  db
    .selectFrom('smtp_credentials')
    .innerJoin('domains', 'domains.id', 'smtp_credentials.domain_id')
    .select([
      'smtp_credentials.organization_id',
      sql<boolean>`smtp_credentials.tracking_enabled and domains.tracking_enabled`.as(
        'tracking_enabled',
      ),
      'domains.id as domain_id',
      'domains.domain',
    ])
    .where('smtp_credentials.username', '=', username)
    .where('domains.ownership_verified_at', 'is not', null)
    .executeTakeFirst()

/** The organization and domain of the newest tracked message with this id. */
export const findMessage = (db: Db, emailId: string) =>
  db
    .selectFrom('tracked_messages')
    .select(['organization_id', 'domain_id', 'domain'])
    .where('email_id', '=', emailId)
    .orderBy('created_at', 'desc')
    .executeTakeFirst()

/** The e-mail addresses of the list that a tracked message was sent to. */
export const recipientsOf = async (
  db: Db,
  message: { organization_id: string; email_id: string },
  addresses: string[],
): Promise<string[]> => {
  const rows = await db
    .selectFrom('tracked_recipients')
    .innerJoin('tracked_messages', 'tracked_messages.id', 'tracked_recipients.message_id')
    .select('tracked_recipients.recipient')
    .distinct()
    .where('tracked_messages.email_id', '=', message.email_id)
    .where('tracked_messages.organization_id', '=', message.organization_id)
    .where('tracked_recipients.recipient', 'in', addresses)
    .execute()
  return rows.map(({ recipient }) => recipient)
}

/** Deletes in batches, so that locks are short. */
export async function deleteOlder(db: Db, before: Date, portion: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('tracked_messages')
    .where(
      'id',
      'in',
      db
        .selectFrom('tracked_messages')
        .select('id')
        .where('created_at', '<', before.toISOString())
        .limit(portion),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
