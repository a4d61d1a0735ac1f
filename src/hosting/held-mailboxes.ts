import type { Tx } from '../database/database.ts'
import { defineError } from '../errors.ts'
import { isAnyBeingErased, isAnyHeld, isDomainHeld } from './held-mailboxes.repository.ts'

export const MailboxBeingErased = defineError({
  status: 409,
  message: 'The data of this mailbox is being erased; an operator can cancel that first',
})

/** The message leaves out the author and the reason of the hold: tenants must not see them. */
export const MailboxOnHold = defineError({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers this mailbox; an operator has to release it first',
})

export const DomainOnHold = defineError({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers addresses of this domain; an operator has to release it first',
})

interface Mailboxes {
  organization_id: string
  /** Mailboxes and shared mailboxes. */
  ids: readonly string[]
  emails: readonly string[]
}

/**
 * Every deletion of mailboxes calls this first. A mailbox under a legal hold must stay. A mailbox that
 * is being erased must keep its row until the erasure has found and deleted its mail.
 */
export async function refuseHeld(tx: Tx, mailboxes: Mailboxes, now: Date): Promise<void> {
  await refuseErased(tx, mailboxes.ids)
  if (await isAnyHeld(tx, mailboxes.organization_id, mailboxes.emails, now)) {
    throw new MailboxOnHold()
  }
}

export async function refuseErased(tx: Tx, ids: readonly string[]): Promise<void> {
  if (await isAnyBeingErased(tx, ids)) throw new MailboxBeingErased()
}

/**
 * Every deletion of a domain calls this first, with the mailboxes that go with it. A domain whose
 * ownership was never proven has had no mail.
 */
export async function refuseHeldDomain(
  tx: Tx,
  domain: { organization_id: string; domain: string; ownership_verified_at: string | null },
  ids: readonly string[],
  now: Date,
): Promise<void> {
  await refuseErased(tx, ids)
  if (domain.ownership_verified_at === null) return
  if (await isDomainHeld(tx, domain, now)) throw new DomainOnHold()
}
