import { sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { type Mark, marksIn } from '../../../jobs/marks.ts'

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

export type Pending = Mark<'email'>

/** Mailboxes whose scripts may be out of date and that Dovecot hosts. */
export const { claim, finish, postpone } = marksIn('mailbox_scripts_pending', {
  key: 'email',
  where: sql`exists (
    select from edge.mailboxes m where m.email = mailbox_scripts_pending.email)`,
})

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
