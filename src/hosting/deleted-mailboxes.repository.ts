import type { Db } from '../database/database.ts'

/** A deleted mailbox whose mail is still on disk. */
export interface DeletedMailbox {
  id: string
  organization_id: string
  email: string
  /** The name under which Dovecot finds the mail. */
  login: string
  attempts: number
}

export const deletedMailboxes = (db: Db, email: string): Promise<DeletedMailbox[]> =>
  db
    .selectFrom('deleted_mailboxes')
    .select(['id', 'organization_id', 'email', 'login', 'attempts'])
    .where('email', '=', email)
    .orderBy('deleted_at')
    .execute()

export const forgetDeletedMailbox = (db: Db, id: string) =>
  db.deleteFrom('deleted_mailboxes').where('id', '=', id).execute()
