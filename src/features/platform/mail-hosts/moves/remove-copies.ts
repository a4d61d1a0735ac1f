import type { Core } from '../../../../core.ts'
import type { Chore } from '../../../../jobs/chores.ts'
import { newLease, underLease } from '../../../../jobs/lease.ts'
import { DoveadmAway } from '../../../../mail/doveadm.ts'
import { doveadmOf, dovecotHosts } from '../../../../mail/mail-hosts.ts'
import { removeHome } from '../../../../mail/remove-mail.ts'
import * as moves from './moves.repository.ts'

const LEASE_SECONDS = 120

/** Removes the copies that moved mailboxes left behind. */
export const removeOldCopies: Chore = {
  name: 'mailbox-copies',
  isPatient: true,
  async round(core) {
    const lease = newLease(LEASE_SECONDS)
    const leftover = await moves.claimLeftover(core.db, lease)
    if (!leftover) return false
    const { mailbox_id, host_id } = leftover
    await underLease(core, 'mailbox_leftovers', { mailbox_id, host_id }, lease, async () => {
      try {
        await remove(core, leftover)
        await moves.forgetLeftover(core.db, leftover, lease)
      } catch (error) {
        core.log.warn({ err: error, mailbox_id }, 'removing an old copy failed, will retry')
        await moves.postponeLeftover(core.db, leftover, lease, (error as Error).message)
      }
    })
    return true
  },
}

async function remove({ db, vault }: Core, { host_id, mailbox_id, login }: moves.Leftover) {
  const host = (await dovecotHosts(db)).find(({ id }) => id === host_id)
  if (!host || login === null) return
  if (host.isAway) throw new DoveadmAway(`the mail host ${host.name} is away`)
  await moves.onForeignCopy(db, { mailbox_id, host_id }, () =>
    removeHome(doveadmOf(host, vault), login, mailbox_id),
  )
}
