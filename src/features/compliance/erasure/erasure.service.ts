import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import type { Tx } from '../../../database/database.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import { paginated } from '../../../http/paging.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { DAY_MS } from '../../../lib/time.ts'
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
import { coveringPersons } from '../holds/holds.repository.ts'
import {
  findMailbox,
  findPerson,
  lockMailbox,
  lockOrganizationsOf,
  personsOf,
} from '../people.repository.ts'
import { knownPerson } from '../people.ts'
import type { Person } from '../personal-data/personal-table.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import * as erasures from './erasure.repository.ts'

const GRACE_PERIOD_MS = 30 * DAY_MS
const STATUS_LIMIT = 10

interface Sent {
  requested_by: string
  reason?: string
}

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'clickhouse' | 'db' | 'events' | 'now'>

export type ErasureService = ReturnType<typeof erasureService>

export function erasureService(needs: Needs) {
  const { access, authCache, change, db, events, now } = needs
  const past = pastDays(needs)

  /** Ends logins that a mail server or another process has cached. */
  async function flushLogins(email: string): Promise<void> {
    await authCache.flush([email])
    await access.settled()
  }

  return {
    /** Deactivates the mailbox now, if there is one; a job removes the data after the grace period. */
    async request(caller: Caller, sentEmail: string, sent: Sent) {
      const person = await knownPerson(db, past, userEmail(sentEmail))
      const { email } = person
      const at = now()
      const scheduled = new Date(at.getTime() + GRACE_PERIOD_MS).toISOString()
      const alreadyRequested = async () => {
        const waiting = await erasures.findWaiting(db, email)
        return new ErasureUnderWay((waiting?.hard_delete_scheduled_at ?? scheduled).slice(0, 10))
      }
      const row = await refusing({ data_erasures_under_way: alreadyRequested }, () =>
        change(caller, async (tx) => {
          const mailbox = await lockedMailbox(tx, person)
          const created_at = at.toISOString()
          const persons = await personsOf(tx, { ...person, user_email: email, created_at })
          await lockOrganizationsOf(tx, persons)
          const holds = await coveringPersons(tx, past, persons, at)
          if (holds.length > 0) {
            throw new LegalHoldActive({ holds: holds.map(({ id, name }) => ({ id, name })) })
          }
          const row = await erasures.insert(tx, {
            id: ulid(),
            organization_id: person.organization_id,
            account_id: person.account_id,
            user_email: email,
            requested_by: sent.requested_by,
            reason: sent.reason ?? null,
            previous_status: mailbox?.status ?? null,
            due_at: scheduled,
            soft_deleted_at: created_at,
            hard_delete_scheduled_at: scheduled,
            created_at,
          })
          if (mailbox) await deactivate(tx, mailbox, at)
          const payload = {
            erasure_id: row.id,
            requested_by: row.requested_by,
            hard_delete_scheduled_at: scheduled,
          }
          const details = { ...payload, reason: row.reason }
          const action = 'data_erasure.requested'
          const { organization_id } = row
          await record(tx, caller, { action, organization_id, user_email: email, details }, at)
          await events.emit(tx, DataErasureRequested, about(row), { ...payload, user_email: email })
          return row
        }),
      )
      if (row.account_id !== null) await flushLogins(row.user_email)
      return row
    },

    async status(email: string) {
      const items = await erasures.listOf(db, userEmail(email), STATUS_LIMIT)
      return paginated(items, items.length, { page: 1, perPage: STATUS_LIMIT, offset: 0 })
    },

    /** Restores the previous status of the mailbox, as long as the removal has not begun. */
    async cancel(caller: Caller, email: string, reason: string) {
      const person = await findPerson(db, userEmail(email))
      const row = await change(caller, async (tx) => {
        await lockedMailbox(tx, person)
        const waiting = await erasures.lockWaiting(tx, person.email)
        if (!waiting) throw new NoErasureToCancel()
        if (waiting.begun_at !== null) throw new ErasureBegun()
        const { account_id, organization_id, user_email } = waiting
        const status = waiting.previous_status as 'active' | 'inactive' | 'suspended' | null
        if (account_id !== null && status !== null) {
          await erasures.setMailboxStatus(tx, account_id, status, now())
        }
        if (account_id !== null && organization_id !== null && status === 'active') {
          const data = { account_id, email: user_email, organization_id, status }
          await events.emit(tx, MailboxActivated, about(waiting), data)
        }
        const action = 'data_erasure.cancelled'
        const details = { erasure_id: waiting.id, reason }
        await record(tx, caller, { action, organization_id, user_email, details }, now())
        return erasures.cancel(tx, waiting.id)
      })
      if (row.account_id !== null) await flushLogins(row.user_email)
      return row
    },
  }

  /** Ends the sessions of the mailbox and refuses logins and mail. */
  async function deactivate(tx: Tx, mailbox: Mailbox, at: Date): Promise<void> {
    const { id: account_id, organization_id, email, status } = mailbox
    await erasures.setMailboxStatus(tx, account_id, 'inactive', at)
    await access.sessions.revokeAllOf(tx, 'mailbox', account_id)
    if (status !== 'active') return
    const data = { account_id, email, organization_id, status: 'inactive' as const }
    await events.emit(tx, MailboxSuspended, about({ organization_id, user_email: email }), data)
  }
}

type Mailbox = NonNullable<Awaited<ReturnType<typeof lockMailbox>>>

/** Undefined for a person without a mailbox. */
async function lockedMailbox(tx: Tx, person: Person): Promise<Mailbox | undefined> {
  if (person.account_id === null) return undefined
  const { domain_id } = (await findMailbox(tx, person.email)) ?? {}
  const mailbox = domain_id && (await lockMailbox(tx, person.account_id, domain_id))
  if (!mailbox) throw new MailboxNotFound()
  return mailbox
}

const about = (row: { organization_id: string | null; user_email: string }) => ({
  org_id: row.organization_id,
  domain: domainOf(row.user_email),
})
