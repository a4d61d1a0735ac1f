import type { Tx } from '../../database/database.ts'
import { isAnyBeingErased, isAnyHeld } from './kept-mailboxes.repository.ts'
import { MailboxBeingErased, MailboxOnHold } from './mailboxes.errors.ts'

interface Kept {
  organization_id: string
  /** Mailboxes and shared mailboxes. */
  ids: readonly string[]
  emails: readonly string[]
}

/**
 * Whatever deletes mailboxes asks here first. What a legal hold covers stays; one that is being erased
 * is the erasure's alone, because without its row nobody would find its mail any more.
 */
export async function refuseKept(tx: Tx, kept: Kept, now: Date): Promise<void> {
  await refuseErased(tx, kept.ids)
  if (await isAnyHeld(tx, kept.organization_id, kept.emails, now)) throw new MailboxOnHold()
}

export async function refuseErased(tx: Tx, ids: readonly string[]): Promise<void> {
  if (await isAnyBeingErased(tx, ids)) throw new MailboxBeingErased()
}
