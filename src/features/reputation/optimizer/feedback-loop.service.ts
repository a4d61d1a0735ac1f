import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { insertFeedback } from '../../../hosting/feedback.repository.ts'
import { findDomain, isOrganization } from '../../../hosting/tenants.repository.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { readFeedbackReport } from '../../../mime/reports.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import { complaintRecorder } from '../../tracking/feedback/complaints.ts'
import type { FeedbackService } from '../../tracking/feedback/feedback.service.ts'
import type { Owner } from '../../tracking/feedback/owner.ts'
import * as domains from '../domains.repository.ts'
import { FeedbackReceived } from '../reputation.events.ts'
import { ratesOf, ratingOf } from '../scoring.ts'
import { NoSuchOrganization } from './optimizer.errors.ts'
import type { Bounce, Feedback } from './optimizer.schemas.ts'

/** RFC 5965 feedback types that ask for no more mail. */
const UNWANTED = ['abuse', 'fraud']
const BEGINS_WITH = 100
const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/

interface Needs extends Pick<Core, 'db' | 'events' | 'now'> {
  /** Records bounces and complaints and suppresses their recipients. */
  tracking: Pick<FeedbackService, 'bounce' | 'complaint' | 'unsubscribe'>
}

export type FeedbackLoopService = ReturnType<typeof feedbackLoopService>

/** Feedback of providers about mail from this host. */
export function feedbackLoopService({ db, events, now, tracking }: Needs) {
  const complain = complaintRecorder({ events, now })

  /** The given organization, or the owner of the sender's domain. */
  async function ownerOf(named: string | undefined, sender: string | undefined): Promise<Owner> {
    const name = sender === undefined ? undefined : toDomainName(domainOf(sender))
    const hosted = name === undefined ? undefined : await domains.find(db, name)
    const organization_id = named ?? hosted?.organization_id
    if (organization_id === undefined) {
      throw new Unprocessable('The sender of this message is unknown: name the organization_id')
    }
    if (!(await isOrganization(db, organization_id))) throw new NoSuchOrganization()
    const own = hosted?.organization_id === organization_id ? hosted : undefined
    return {
      organization_id,
      domain_id: own?.id ?? null,
      domain: own?.domain ?? '',
      email_id: null,
      tracking_id: null,
    }
  }

  return {
    /** A complaint as fields or as a provider's report. A repeated report counts once. */
    async receive(sent: Static<typeof Feedback>) {
      const report = sent.report ? readFeedbackReport(messageFrom(sent.report)) : undefined
      if (sent.report && !report) {
        throw new Unprocessable('report is no feedback report (RFC 5965)')
      }
      const said = { ...report, ...given(sent) }
      if (!said.reporter) throw new Unprocessable('reporter is required')
      const recipient = addressOf('original_recipient', said.original_recipient) ?? ''
      if (!report && recipient === '') throw new Unprocessable('original_recipient is required')
      const sender = addressOf('original_sender', said.original_sender)
      const owner = await ownerOf(sent.organization_id ?? undefined, sender)
      const { organization_id } = owner
      const { reporter } = said
      const email_id = said.email_id?.replace(/^<|>$/g, '') || null
      const feedback_type = (said.feedback_type ?? 'abuse').toLowerCase()
      const isUnwanted = UNWANTED.includes(feedback_type)
      const suppressed = isUnwanted && recipient !== ''
      const row = {
        organization_id,
        original_recipient: recipient,
        complaint_recipient: report?.complaint_recipient ?? null,
        isp_name: ADDRESS.test(reporter) ? domainOf(reporter).toLowerCase() : reporter,
        feedback_type,
        email_id,
        subject: said.subject ?? null,
        sender: sender ?? null,
        sender_domain: owner.domain || null,
        digest: sent.report ? hash('sha256', sent.report) : null,
        // A report without a recipient suppresses no one and needs a manual look.
        processed: !isUnwanted || suppressed,
        suppression_added: suppressed,
      }
      return db.transaction().execute(async (tx) => {
        const stored = await insertFeedback(tx, row, now())
        if (!stored) return { status: 'duplicate' as const, suppressed, organization_id }
        if (suppressed) {
          await complain(tx, { ...owner, email_id }, recipient, feedback_type, 'feedback_loop', {
            reporter,
          })
        }
        await events.emit(
          tx,
          FeedbackReceived,
          { org_id: organization_id, domain: owner.domain || null },
          { reporter, feedback_type, original_recipient: recipient, suppressed },
        )
        return { status: 'recorded' as const, id: stored.id, suppressed, organization_id }
      })
    },

    /** Uses the suppression list of tracking; there is only one. */
    async bounce(sent: Static<typeof Bounce>) {
      const { organization_id, recipient } = sent
      const kind = sent.bounce_type.toLowerCase()
      const name = sent.sender?.includes('@') ? toDomainName(domainOf(sent.sender)) : undefined
      const own = name === undefined ? undefined : await findDomain(db, organization_id, { name })
      const known = { organization_id, ...(own && { domain_id: own.domain_id }) }
      if (kind === 'complaint') return tracking.complaint({ recipient, ...known })
      const bounce_reason = [sent.bounce_code, sent.diagnostic].filter(Boolean).join(' ')
      if (kind === 'unsubscribe') return tracking.unsubscribe(known, recipient, bounce_reason)
      return tracking.bounce({
        recipient,
        bounce_type: kind === 'hard' ? 'HARD' : 'SOFT',
        bounce_reason,
        tracking_info: known,
      })
    },

    /** The score of today, or of the last day with mail. */
    async reputation(sent: string, organizationId: string | undefined) {
      const found = await domains.find(db, toDomainName(sent) ?? '')
      const isMeant = organizationId === undefined || found?.organization_id === organizationId
      if (!found || !isMeant) throw new DomainNotFound()
      const [row] = await domains.history(db, found.id, 'DAILY', 1)
      const counts = {
        sent: row?.emails_sent ?? 0,
        delivered: row?.emails_delivered ?? 0,
        bounced: row?.emails_bounced ?? 0,
        complained: row?.emails_complained ?? 0,
        opened: row?.emails_opened ?? 0,
        clicked: row?.emails_clicked ?? 0,
      }
      const score = row?.overall_score ?? BEGINS_WITH
      return {
        domain: found.domain,
        organization_id: found.organization_id,
        score,
        rating: ratingOf(score),
        ...counts,
        ...ratesOf(counts),
        trend: row?.trend ?? null,
        period_start: row?.period_start ?? null,
      }
    },
  }
}

/** Fields of the caller override those of the report. */
function given({
  organization_id: _organization,
  report: _report,
  ...fields
}: Static<typeof Feedback>) {
  const said = Object.entries(fields).filter(([, value]) => value)
  return Object.fromEntries(said) as { [Name in keyof typeof fields]?: string }
}

function addressOf(field: string, sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined
  if (!ADDRESS.test(sent)) throw new Unprocessable(`${field} must be an email address`)
  return sent.toLowerCase()
}

/** PostgreSQL does not store null characters. */
const messageFrom = (report: string) => new MimeMessage(Buffer.from(report.replaceAll('\0', '')))
