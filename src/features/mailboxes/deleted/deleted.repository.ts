import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DeletedMailbox } from '../../../hosting/deleted-mailboxes.repository.ts'
import { claimRows, heldBy, type Lease, released } from '../../../jobs/lease.ts'

/**
 * Claims a mailbox that was deleted before this time and that no legal hold covers. Copies on other hosts go
 * first: Dovecot finds them by the login of the deleted mailbox.
 */
export async function claim(db: Db, lease: Lease, before: Date, now: Date) {
  const at = now.toISOString()
  const [row] = await claimRows<DeletedMailbox>(db, 'deleted_mailboxes', lease, {
    key: ['id'],
    where: sql`deleted_at <= ${before.toISOString()}::timestamptz and due_at <= ${at}::timestamptz
      and not is_held(organization_id, email, ${at}::timestamptz)
      and not exists (
        select from mailbox_leftovers l where l.mailbox_id = deleted_mailboxes.id)
      and not exists (
        select from mailbox_moves m where m.mailbox_id = deleted_mailboxes.id
          and m.state in ('waiting', 'copying', 'locked', 'switched'))`,
    orderBy: sql`deleted_at, id`,
    set: sql`attempts = attempts + 1`,
    returning: sql`id, organization_id, email, login, attempts`,
  })
  return row
}

export const postpone = (db: Db, id: string, until: Date, message: string, lease: Lease) =>
  db
    .updateTable('deleted_mailboxes')
    .set({ due_at: until.toISOString(), error_message: message, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()
