import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { paginated } from '../../../http/paging.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { MailboxActivated, MailboxSuspended } from '../../mailboxes/mailboxes.events.ts'
import {
  ErasureBegun,
  ErasureUnderWay,
  LegalHoldActive,
  MailboxNotFound,
  NoErasureToCancel,
} from '../compliance.errors.ts'
import { DataErasureRequested } from '../compliance.events.ts'
import { covering } from '../holds/holds.repository.ts'
import { findMailbox, lockMailbox, lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import * as erasures from './erasure.repository.ts'

const GRACE_MS = 30 * 24 * 3600 * 1000
const SHOWN = 10

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'>

export type ErasureService = ReturnType<typeof erasureService>

export function erasureService({ access, authCache, change, db, events, now }: Needs) {
  async function mailboxOf(email: string) {
    const mailbox = await findMailbox(db, userEmail(email))
    if (!mailbox) throw new MailboxNotFound()
    return mailbox
  }

  const about = (row: { organization_id: string; user_email: string }) => ({
    org_id: row.organization_id,
    domain: domainOf(row.user_email),
  })

  /** Logins that a mail server or another process remembers end now. */
  async function forget(email: string): Promise<void> {
    await authCache.flush([email])
    await access.settled()
  }

  return {
    /** Nobody gets in from now on; the data itself goes in a month, unless it must be kept. */
    async request(caller: Caller, email: string, sent: { requested_by: string; reason?: string }) {
      const known = await mailboxOf(email)
      const at = now()
      const scheduled = new Date(at.getTime() + GRACE_MS).toISOString()
      const again = async () => {
        const waiting = await erasures.findWaiting(db, known.id)
        return new ErasureUnderWay((waiting?.hard_delete_scheduled_at ?? scheduled).slice(0, 10))
      }
      const row = await refusing({ data_erasures_under_way: again }, () =>
        change(caller, async (tx) => {
          const mailbox = await lockMailbox(tx, known.id, known.domain_id)
          if (!mailbox) throw new MailboxNotFound()
          const { id: account_id, organization_id, email: user_email, status } = mailbox
          await lockOrganization(tx, organization_id)
          const holds = await covering(tx, organization_id, user_email, at)
          if (holds.length > 0) {
            throw new LegalHoldActive({ holds: holds.map(({ id, name }) => ({ id, name })) })
          }
          const row = await erasures.insert(tx, {
            id: ulid(),
            organization_id,
            account_id,
            user_email,
            requested_by: sent.requested_by,
            reason: sent.reason ?? null,
            previous_status: status,
            due_at: scheduled,
            soft_deleted_at: at.toISOString(),
            hard_delete_scheduled_at: scheduled,
            created_at: at.toISOString(),
          })
          await erasures.setMailboxStatus(tx, account_id, 'inactive', at)
          await access.sessions.revokeAllOf(tx, 'mailbox', account_id)
          if (status === 'active') {
            await events.emit(tx, MailboxSuspended, about(row), {
              account_id,
              email: user_email,
              organization_id,
              status: 'inactive',
            })
          }
          const told = {
            erasure_id: row.id,
            requested_by: row.requested_by,
            hard_delete_scheduled_at: scheduled,
          }
          const details = { ...told, reason: row.reason }
          const action = 'data_erasure.requested'
          await record(tx, caller, { action, organization_id, user_email, details }, at)
          await events.emit(tx, DataErasureRequested, about(row), { ...told, user_email })
          return row
        }),
      )
      await forget(row.user_email)
      return row
    },

    async status(email: string) {
      const items = await erasures.listOf(db, userEmail(email), SHOWN)
      return paginated(items, items.length, { page: 1, perPage: SHOWN, offset: 0 })
    },

    /** As long as nothing was removed: the mailbox is what it was before. */
    async cancel(caller: Caller, email: string, reason: string) {
      const known = await findMailbox(db, userEmail(email))
      if (!known) throw new NoErasureToCancel()
      const row = await change(caller, async (tx) => {
        await lockMailbox(tx, known.id, known.domain_id)
        const waiting = await erasures.lockWaiting(tx, known.id)
        if (!waiting) throw new NoErasureToCancel()
        if (waiting.begun_at !== null) throw new ErasureBegun()
        const { account_id, organization_id, user_email } = waiting
        const status = waiting.previous_status as 'active' | 'inactive' | 'suspended'
        await erasures.setMailboxStatus(tx, account_id, status, now())
        if (status === 'active') {
          await events.emit(tx, MailboxActivated, about(waiting), {
            account_id,
            email: user_email,
            organization_id,
            status,
          })
        }
        const action = 'data_erasure.cancelled'
        const details = { erasure_id: waiting.id, reason }
        await record(tx, caller, { action, organization_id, user_email, details }, now())
        return erasures.cancel(tx, waiting.id)
      })
      await forget(row.user_email)
      return row
    },
  }
}
