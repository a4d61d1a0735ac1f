import type { Core } from '../../../core.ts'
import { heldAmong } from '../../../hosting/held-mailboxes.repository.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { newLease, underLease } from '../../../jobs/lease.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { endSessions } from '../../../mail/end-sessions.ts'
import { KEPT_FOLDERS } from '../../../mail/kept-folders.ts'
import { removeMail } from '../../../mail/remove-mail.ts'
import { forgetLogins } from '../../../mail/stale-logins.ts'
import * as holds from './holds.repository.ts'

const LEASE_SECONDS = 60
const MAILBOX_BATCH_SIZE = 50

/**
 * Makes Dovecot follow a hold that was placed or released. Dovecot reads whether it keeps expunged mail at
 * the login of the holder, so cached logins are flushed and open sessions are ended.
 */
export const enforceHolds: Chore = {
  name: 'legal-holds',
  isPatient: true,
  atOnce: 3,
  async round(core) {
    if (!core.doveadm.isConfigured) return false
    const lease = newLease(LEASE_SECONDS)
    const hold = await holds.claimChanged(core.db, lease)
    if (!hold) return false
    await underLease(core, 'legal_holds', { id: hold.id }, lease, async () => {
      await flushLogins(core, hold)
      await endSessionsOf(core, hold)
      if (!hold.active) await removeKept(core, hold)
      await holds.setEnforced(core.db, hold, lease, core.now())
    })
    return true
  },
}

async function flushLogins({ authCache, db }: Core, hold: holds.ChangedHold): Promise<void> {
  const flushed =
    hold.custodians.length > 0
      ? await authCache.flush(hold.custodians)
      : await forgetLogins(db, authCache, { organization: hold.organization_id })
  if (!flushed) throw new DoveadmAway('Dovecot did not flush the logins of a legal hold')
}

async function endSessionsOf({ db, doveadm }: Core, hold: holds.ChangedHold): Promise<void> {
  const domains = hold.custodians.length > 0 ? [] : await holds.domainsOf(db, hold.organization_id)
  const masks = [...hold.custodians, ...domains.map((domain) => `*@${domain}`)]
  const left = await endSessions(doveadm, masks)
  if (left.length > 0) throw new DoveadmAway('Dovecot did not end the sessions of a legal hold')
}

/** Removes the expunged messages that no other hold keeps. */
async function removeKept({ db, doveadm, now }: Core, hold: holds.ChangedHold): Promise<void> {
  let after = ''
  for (;;) {
    const emails = await holds.mailboxesOf(db, hold, after, MAILBOX_BATCH_SIZE)
    const held = await heldAmong(db, emails, now())
    for (const email of emails) {
      if (!held.has(email)) await removeMail(doveadm, email, async () => {}, [KEPT_FOLDERS])
    }
    if (emails.length < MAILBOX_BATCH_SIZE) return
    after = emails.at(-1) ?? after
  }
}
