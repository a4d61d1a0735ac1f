import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export const insertUpload = (
  db: Db,
  upload: { id: string; account_id: string; media_type: string },
) => db.insertInto('jmap_uploads').values(upload).execute()

export const insertPiece = (db: Db, uploadId: string, number: number, bytes: Buffer) =>
  db.insertInto('jmap_upload_pieces').values({ upload_id: uploadId, number, bytes }).execute()

/**
 * From now on the upload exists for clients. False when others have taken its room meanwhile: uploads of
 * an account are completed one after the other.
 */
export const completeUpload = (
  db: Db,
  { id, accountId, size }: { id: string; accountId: string; size: number },
): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const name = `jmap upload ${accountId}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    if ((await roomOf(tx, accountId)) < size) return false
    await tx.updateTable('jmap_uploads').set({ size }).where('id', '=', id).execute()
    return true
  })

export const deleteUpload = (db: Db, id: string) =>
  db.deleteFrom('jmap_uploads').where('id', '=', id).execute()

export const findUpload = (db: Db, accountId: string, id: string) =>
  db
    .selectFrom('jmap_uploads')
    .select(['id', 'media_type', 'size'])
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('size', 'is not', null)
    .executeTakeFirst()

export const findPiece = (db: Db, uploadId: string, number: number) =>
  db
    .selectFrom('jmap_upload_pieces')
    .select('bytes')
    .where('upload_id', '=', uploadId)
    .where('number', '=', number)
    .executeTakeFirst()

/** Bytes that the mailbox may still store: its quota without its mail and its uploads. */
export async function roomOf(db: Db, accountId: string): Promise<number> {
  const { rows } = await sql<{ room: number | null }>`
    select case when m.quota_bytes > 0 then m.quota_bytes - coalesce(u.bytes, 0) - (
      select coalesce(sum(size), 0) from jmap_uploads where account_id = ${accountId}) end as room
    from edge.mailboxes m
    left join edge.quota_usage u on u.username = m.email
    where m.id = ${accountId}`.execute(db)
  return rows[0]?.room === null ? Number.POSITIVE_INFINITY : Number(rows[0]?.room ?? 0)
}

/** The place of one copy of a message. */
export const findPlace = (db: Db, accountId: string, emailId: string) =>
  db
    .selectFrom('jmap_places as place')
    .innerJoin('jmap_mailboxes as box', (join) =>
      join
        .onRef('box.account_id', '=', 'place.account_id')
        .onRef('box.id', '=', 'place.mailbox_id'),
    )
    .innerJoin('jmap_emails as email', (join) =>
      join
        .onRef('email.account_id', '=', 'place.account_id')
        .onRef('email.id', '=', 'place.email_id'),
    )
    .select(['box.path', 'place.uid', 'email.size'])
    .where('place.account_id', '=', accountId)
    .where('place.email_id', '=', emailId)
    .orderBy('place.mailbox_id')
    .orderBy('place.uid')
    .limit(1)
    .executeTakeFirst()
