import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'

export interface Place {
  mailboxId: string
  path: string
  uid: number
}

export type EmailRow = Pick<
  Selectable<Tables['jmap_emails']>,
  'id' | 'thread_id' | 'received_at' | 'size' | 'head' | 'preview' | 'has_attachment' | 'keywords'
> & { places: Place[] }

const PLACES = sql<Place[]>`(
  select coalesce(jsonb_agg(jsonb_build_object(
    'mailboxId', p.mailbox_id, 'path', b.path, 'uid', p.uid) order by p.mailbox_id, p.uid), '[]')
  from jmap_places p
  join jmap_mailboxes b on b.account_id = p.account_id and b.id = p.mailbox_id
  where p.account_id = jmap_emails.account_id and p.email_id = jmap_emails.id)`

/** In the order of the ids. */
export async function emailRows(db: Db, accountId: string, ids: string[]): Promise<EmailRow[]> {
  const rows = await db
    .selectFrom('jmap_emails')
    .select([
      'id',
      'thread_id',
      'received_at',
      'size',
      'head',
      'preview',
      'has_attachment',
      'keywords',
      PLACES.as('places'),
    ])
    .where('account_id', '=', accountId)
    .where('is_orphan', '=', false)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export async function findEmail(db: Db, accountId: string, id: string) {
  return (await emailRows(db, accountId, [id]))[0]
}

/** The newest ids, one more than `limit` when there are more. */
export async function allIds(db: Db, accountId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jmap_emails')
    .select('id')
    .where('account_id', '=', accountId)
    .where('is_orphan', '=', false)
    .orderBy('received_at', 'desc')
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  return rows.map(({ id }) => id)
}

export async function findByUid(
  db: Db,
  accountId: string,
  mailboxId: string,
  uid: number,
): Promise<EmailRow | undefined> {
  const place = await db
    .selectFrom('jmap_places')
    .select('email_id')
    .where('account_id', '=', accountId)
    .where('mailbox_id', '=', mailboxId)
    .where('uid', '=', uid)
    .executeTakeFirst()
  return place && findEmail(db, accountId, place.email_id)
}

/** The messages of the threads of these messages. */
export async function inSameThreads(db: Db, accountId: string, ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select other.id from jmap_emails one
    join jmap_emails other on other.account_id = one.account_id and other.thread_id = one.thread_id
    where one.account_id = ${accountId} and one.id = any(${ids}::text[])`.execute(db)
  return [...new Set(rows.map(({ id }) => id))]
}
