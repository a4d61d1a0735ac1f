import type { Core } from '../../../core.ts'
import { deletedMailboxes } from '../../../hosting/deleted-mailboxes.repository.ts'
import { removeMail } from '../../../mail/remove-mail.ts'
import { purge } from '../../mailboxes/deleted/purge-deleted.ts'
import { findMailbox } from '../people.repository.ts'
import type { Person } from '../personal-data/personal-table.ts'
import type { Add } from './erasers.ts'

/** Removes the mail of the mailbox, with what a past legal hold kept. Others of its name have no mail. */
export async function eraseMail({ db, doveadm }: Core, { email, account_id }: Person, add: Add) {
  if (account_id === null || (await findMailbox(db, email))?.id !== account_id) return
  await removeMail(doveadm, email, (counts) => add(db, counts))
}

/** Removes the remains of every mailbox that had this address; the erased one is among them by now. */
export async function eraseDeletedMail(core: Core, { email }: Person, add: Add) {
  for (const row of await deletedMailboxes(core.db, email)) {
    await purge(core, row, (counts) => add(core.db, counts))
    await add(core.db, { mailboxes: 1 })
  }
}
