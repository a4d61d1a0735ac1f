import type { Static } from 'typebox'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { Unprocessable } from '../../../errors.ts'
import { occurrence } from '../../../events/events.ts'
import { insertFeedback } from '../../../hosting/feedback.repository.ts'
import { suppress } from '../../../hosting/suppressions.repository.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { EmailBounced, HardBounce, SoftBounce } from '../../mail-log/mail-log.events.ts'
import { NO_QUEUE_ID } from '../../mail-log/postfix-line.ts'
import type { ComplaintReport } from '../internal.schemas.ts'
import { storeEvents } from '../store-events.ts'
import * as tracked from '../tracked.repository.ts'
import { softBounces, type TrackingEventType } from '../tracking-events.repository.ts'
import type { Bounced } from './bounce-message.ts'
import { complaintRecorder, reported } from './complaints.ts'
import { type Known, type Owner, ownerFinder } from './owner.ts'

const SOFT_BOUNCES = 5
const DAYS = 30
const MAX_REASON = 2000
const MAX_TYPE = 50
const MAX_ID = 255

const LIMITS = { owner: 'bounces', timeLimitMs: 10_000 }

const bounceTask = taskIn<typeof import('./bounce.task.ts')>('features/tracking/feedback/bounce')

type Needs = Pick<Core, 'db' | 'events' | 'now' | 'vault' | 'workers'>

export type FeedbackService = ReturnType<typeof feedbackService>

/** Records bounces, complaints and unsubscribes that other systems report. */
export function feedbackService({ db, events, now, vault, workers }: Needs) {
  const findOwner = ownerFinder({ db, vault })
  const complain = complaintRecorder({ events, now })

  async function ownerOf(known: Known): Promise<Owner> {
    const owner = await findOwner(known)
    if (owner) return owner
    throw new Unprocessable(
      'The sender of this message is unknown: name an organization_id, a tracking_id or the email_id of tracked mail',
    )
  }

  const record = (tx: Tx, owner: Owner, recipient: string, type: TrackingEventType, more: object) =>
    storeEvents(tx, [reported(owner, recipient, type, more, now())])

  /** A hard bounce, or repeated soft bounces, suppress the recipient. */
  async function bounce(sent: Bounced & { tracking_info?: Known | null | undefined }) {
    const owner = await ownerOf(sent.tracking_info ?? {})
    const recipient = sent.recipient.toLowerCase()
    const bounce_type = sent.bounce_type.toUpperCase() as 'HARD' | 'SOFT' | 'BLOCK'
    const bounce_reason = sent.bounce_reason.slice(0, MAX_REASON)
    const { organization_id, domain } = owner
    const about = { org_id: organization_id, domain: domain || null }
    const timestamp = now().toISOString()
    const message_id = owner.email_id === null ? undefined : `<${owner.email_id}>`
    const suppressed = await db.transaction().execute(async (tx) => {
      await record(tx, owner, recipient, 'bounced', { bounce_type, bounce_reason })
      const what = occurrence(EmailBounced, about, {
        message_id,
        queue_id: NO_QUEUE_ID,
        sender: '',
        from: '',
        recipient,
        to: recipient,
        domain,
        organization_id,
        status: 'bounced',
        detail: bounce_reason,
        timestamp,
        bounce_type,
        bounce_reason,
      })
      const tracking_id = owner.tracking_id ?? undefined
      const why = { recipient, bounce_type, bounce_reason, message_id, tracking_id }
      await events.emitMany(tx, [
        { ...what, type: { name: what.type.name, source: 'tracking' } },
        occurrence(bounce_type === 'HARD' ? HardBounce : SoftBounce, about, why),
      ])
      if (bounce_type === 'BLOCK' || !(await isEnough(tx, owner, recipient, bounce_type))) {
        return false
      }
      const row = { email: recipient, organization_id, reason: bounce_reason, source: 'tracking' }
      await suppress(tx, 'BOUNCE', [{ ...row, bounce_type }], now())
      return true
    })
    return { success: true, recipient, bounce_type, suppressed, organization_id }
  }

  return {
    bounce,

    /**
     * A bounce message as received. It can be forged, so it counts only for recipients of the original
     * message, unless the caller names the organization.
     */
    async bounceMessage(content: string, info?: Known | null) {
      const { bounced, email_id, tracking_id } = await workers.run(bounceTask, content, LIMITS)
      if (bounced.length === 0) {
        throw new Unprocessable(
          'This is not a bounce: the message has no report of a failed recipient (RFC 3464) and no X-Failed-Recipients',
        )
      }
      const tracking_info = { tracking_id, email_id, ...info }
      const isVouchedFor = Boolean(info?.organization_id)
      const own = isVouchedFor ? bounced : await recipientsAmong(bounced, tracking_info)
      if (own.length === 0) {
        throw new Unprocessable('The returned message was not sent to the recipient that bounced')
      }
      const bounces = []
      for (const one of own) bounces.push(await bounce({ ...one, tracking_info }))
      return { success: true, bounces }
    },

    async complaint(sent: Static<typeof ComplaintReport>) {
      const owner = await ownerOf(sent)
      const recipient = sent.recipient.toLowerCase()
      const complaint_type = sent.complaint_type || 'spam'
      const { organization_id, domain, email_id } = owner
      await db.transaction().execute(async (tx) => {
        const more = sent.additional_data ?? {}
        await complain(tx, owner, recipient, complaint_type, 'tracking', more)
        const report = {
          organization_id,
          original_recipient: recipient,
          complaint_recipient: null,
          isp_name: domainOf(recipient),
          feedback_type: complaint_type.slice(0, MAX_TYPE),
          email_id: email_id?.slice(0, MAX_ID) ?? null,
          subject: null,
          sender: null,
          sender_domain: domain || null,
          digest: null,
          processed: true,
          suppression_added: true,
        }
        await insertFeedback(tx, report, now())
      })
      return { success: true, recipient, complaint_type, suppressed: true, organization_id }
    },

    /** An unsubscribe that another system reports for the recipient. */
    async unsubscribe(known: Known, sent: string, reason: string) {
      const owner = await ownerOf(known)
      const recipient = sent.toLowerCase()
      const { organization_id } = owner
      await db.transaction().execute(async (tx) => {
        await record(tx, owner, recipient, 'unsubscribed', { reason: reason.slice(0, MAX_REASON) })
        const row = { email: recipient, organization_id, reason: 'unsubscribe', source: 'tracking' }
        await suppress(tx, 'UNSUBSCRIBE', [row], now())
      })
      return { success: true, recipient, suppressed: true, organization_id }
    },
  }

  async function recipientsAmong(bounced: Bounced[], known: Known): Promise<Bounced[]> {
    const { organization_id, email_id } = await ownerOf(known)
    if (email_id === null) return []
    const addresses = bounced.map(({ recipient }) => recipient)
    const sent = await tracked.recipientsOf(db, { organization_id, email_id }, addresses)
    return bounced.filter(({ recipient }) => sent.includes(recipient))
  }

  async function isEnough(tx: Tx, owner: Owner, recipient: string, type: 'HARD' | 'SOFT') {
    if (type === 'HARD') return true
    const since = new Date(now().getTime() - DAYS * DAY_MS)
    return (await softBounces(tx, owner.organization_id, recipient, since)) >= SOFT_BOUNCES
  }
}
