import { sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { claimRows, heldBy, type Lease, releaseLease, setReleased } from '../../../jobs/lease.ts'

/** Held to the end of the transaction, so that the next edit reads this one. */
export const lockScripts = (tx: Tx, accountId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`mailbox scripts ${accountId}`}, 0))`.execute(
    tx,
  )

/** Copies the responder to the account, where the tenant reads and changes it. */
export const noteVacation = (
  tx: Tx,
  accountId: string,
  { enabled, message }: { enabled: boolean; message: string | null },
) => note(tx, accountId, { vacation_enabled: enabled, vacation_message: message })

/** Copies the forwarding to the account, where the tenant reads and changes it. */
export const noteForwarding = (
  tx: Tx,
  accountId: string,
  { enabled, addresses }: { enabled: boolean; addresses: readonly string[] },
) =>
  note(tx, accountId, {
    forward_enabled: enabled,
    forward_destination: addresses.join(', ') || null,
  })

const note = (tx: Tx, accountId: string, settings: Updateable<Tables['email_accounts']>) =>
  tx
    .updateTable('email_accounts')
    .set({ ...settings, updated_at: sql`now()` })
    .where('id', '=', accountId)
    .execute()

export interface Pending {
  email: string
  changes: number
  attempts: number
}

/** Claims mailboxes whose scripts may be out of date and that Dovecot hosts. */
export const claim = (db: Db, lease: Lease, limit: number): Promise<Pending[]> =>
  claimRows<Pending>(db, 'mailbox_scripts_pending', lease, {
    key: ['email'],
    where: sql`due_at <= now() and exists (
      select from edge.mailboxes m where m.email = mailbox_scripts_pending.email)`,
    orderBy: sql`due_at, email`,
    limit,
    returning: sql`email, changes, attempts`,
  })

/** A mailbox that was marked again in the meantime stays and is due at once. */
export async function finish(db: Db, { email, changes }: Pending, lease: Lease): Promise<void> {
  const { numAffectedRows } = await sql`delete from mailbox_scripts_pending
    where email = ${email} and changes = ${changes} and ${heldBy(lease)}`.execute(db)
  if (!numAffectedRows) await releaseLease(db, 'mailbox_scripts_pending', { email }, lease)
}

export const postpone = (db: Db, email: string, lease: Lease, seconds: number) =>
  sql`update mailbox_scripts_pending
    set attempts = attempts + 1, due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
    where email = ${email} and ${heldBy(lease)}`.execute(db)

interface StoredSettings {
  id: string
  forward_enabled: boolean
  forward_destination: string | null
  vacation_enabled: boolean
  vacation_message: string | null
}

/**
 * The settings of a mailbox or a shared mailbox; undefined when Dovecot hosts none with this address. Several
 * organizations may have prepared the address at a domain that none of them has proven.
 */
export async function settingsOf(db: Db, email: string): Promise<StoredSettings | undefined> {
  const { rows } = await sql<StoredSettings>`
    select a.id, a.forward_enabled, a.forward_destination, a.vacation_enabled, a.vacation_message
    from edge.mailboxes m join email_accounts a on a.id = m.id where m.email = ${email}
    union all
    select s.id, false, null, s.auto_reply_enabled, s.auto_reply_message
    from edge.mailboxes m join shared_mailboxes s on s.id = m.id where m.email = ${email}`.execute(
    db,
  )
  return rows[0]
}
