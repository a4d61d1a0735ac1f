import type { Core } from '../../../core.ts'
import {
  type DeletedMailbox,
  forgetDeletedMailbox,
} from '../../../hosting/deleted-mailboxes.repository.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { newLease, underLease } from '../../../jobs/lease.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { removeHome, removeMail } from '../../../mail/remove-mail.ts'
import * as deleted from './deleted.repository.ts'

const LEASE_SECONDS = 120
/** The shutdown of this process waits while this job runs. */
const MAX_RUN_MS = 45_000

/** Removes the mail of mailboxes that were deleted `DELETED_MAIL_DAYS` ago. */
export const purgeDeletedMailboxes: Job = {
  name: 'mailboxes.purge-deleted',
  everySeconds: 600,
  async run(core) {
    const { config, db, doveadm, now } = core
    if (!doveadm.isConfigured) return
    const before = new Date(now().getTime() - config.DELETED_MAIL_DAYS * DAY_MS)
    const end = Date.now() + MAX_RUN_MS
    while (Date.now() < end) {
      const lease = newLease(LEASE_SECONDS)
      const row = await deleted.claim(db, lease, before, now())
      if (!row) return
      await underLease(core, 'deleted_mailboxes', { id: row.id }, lease, async () => {
        try {
          await purge(core, row)
        } catch (error) {
          core.log.warn({ err: error, id: row.id }, 'removing deleted mail failed, will retry')
          const pause = Math.min(HOUR_MS, MINUTE_MS * 2 ** Math.min(row.attempts, 10))
          const until = new Date(now().getTime() + pause)
          await deleted.postpone(db, row.id, until, (error as Error).message, lease)
        }
      })
    }
  },
}

/** Safe to repeat: the row goes last. */
export async function purge(
  { authCache, db, doveadm }: Pick<Core, 'authCache' | 'db' | 'doveadm'>,
  { id, login }: DeletedMailbox,
  removed: Parameters<typeof removeMail>[2] = async () => {},
): Promise<void> {
  await removeMail(doveadm, login, removed)
  await removeHome(doveadm, login, id)
  await forgetDeletedMailbox(db, id)
  await authCache.flush([login])
}
