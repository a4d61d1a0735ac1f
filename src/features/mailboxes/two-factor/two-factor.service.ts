import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { EmailAccountNotFound } from '../mailboxes.errors.ts'
import { MailboxTwoFactorReset } from '../mailboxes.events.ts'
import * as accounts from '../mailboxes.repository.ts'

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'events'>

export type HolderTwoFactorService = ReturnType<typeof holderTwoFactorService>

/** The second factor of a mailbox holder, for the people who manage the mailbox. */
export const holderTwoFactorService = ({ access, change, db, events }: Needs) => ({
  async status(caller: Caller, id: string) {
    if (!(await accounts.find(db, caller.scope, id))) throw new EmailAccountNotFound()
    const status = await access.twoFactor.status(db, { kind: 'mailbox', id })
    return {
      account_id: id,
      enabled: status.enabled,
      enabled_at: status.enabledAt,
      backup_codes_left: status.backupCodesLeft,
    }
  },

  /** For a holder who lost it. Ends the sessions, because another person may have the device. */
  async reset(caller: Caller, id: string) {
    const result = await change(caller, async (tx) => {
      const account = await accounts.lock(tx, caller.scope, id)
      if (!account) throw new EmailAccountNotFound()
      const two_factor_cleared = await access.twoFactor.reset(tx, { kind: 'mailbox', id })
      const sessions_revoked = await access.sessions.revokeAllOf(tx, 'mailbox', id)
      const { email, organization_id } = account
      if (two_factor_cleared) {
        const subject = { org_id: organization_id, domain: domainOf(email) }
        const data = { account_id: id, email, organization_id, sessions_revoked }
        await events.emit(tx, MailboxTwoFactorReset, subject, data)
      }
      return { account_id: id, two_factor_cleared, sessions_revoked }
    })
    await access.settled()
    return result
  },
})
