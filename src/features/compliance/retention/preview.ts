import type { Core } from '../../../core.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import { expirers } from './expirers.ts'
import { countOldMail, daysBefore } from './old-mail.ts'
import type { PolicyFields } from './policies.repository.ts'
import * as runs from './runs.repository.ts'

const MAILBOX_BATCH_SIZE = 20
/** Clients wait about half a minute for a response. */
const TIME_LIMIT_MS = 15_000

type OldMail = Awaited<ReturnType<typeof countOldMail>>

/**
 * Counts the rows and messages that a retention run would delete or move now. The rows are counted in the
 * first part only; `next_after` is the `after` of the next part when there was no time for all mailboxes.
 */
export async function previewOf(
  core: Core,
  organizationId: string,
  policy: PolicyFields,
  isOnHold: boolean,
  after: string,
) {
  const { db, doveadm, now } = core
  const past = pastDays(core)
  const held = await runs.heldIn(db, organizationId, now())
  const counts: Record<string, number> & OldMail = { messages_deleted: 0, messages_archived: 0 }
  const nothing = { counts, mailboxes_counted: 0, mailboxes_held: 0, next_after: null }
  if (isOnHold || held.isWholeOrganization) return { ...nothing, on_hold: true }
  if (after === '') {
    const before = daysBefore(now(), policy.retention_days)
    const expiring = { organization_id: organizationId, before, held: held.addresses }
    for (const { name, count } of expirers) counts[name] = await count(db, expiring, past)
  }
  if (!doveadm.isConfigured) return { ...nothing, on_hold: false }
  const end = Date.now() + TIME_LIMIT_MS
  let mailboxes_counted = 0
  let mailboxes_held = 0
  let last = after
  for (;;) {
    const emails = await runs.mailboxesAfter(db, organizationId, last, MAILBOX_BATCH_SIZE)
    for (const email of emails) {
      last = email
      if (held.addresses.includes(email)) {
        mailboxes_held++
        continue
      }
      const found = await countOldMail(core, email, policy)
      counts.messages_deleted += found.messages_deleted
      counts.messages_archived += found.messages_archived
      mailboxes_counted++
    }
    const isComplete = emails.length < MAILBOX_BATCH_SIZE
    if (isComplete || Date.now() > end) {
      const next_after = isComplete ? null : last
      return { counts, mailboxes_counted, mailboxes_held, next_after, on_hold: false }
    }
  }
}
