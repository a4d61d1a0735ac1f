import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'
import { DOMAIN_SORTS } from './domains.repository.ts'
import { FEEDBACK_SORTS } from './feedback.repository.ts'
import { IP_SORTS } from './ips.repository.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const score = Type.Number({ description: '0 to 100', examples: [92.5] })
const count = Type.Integer({ examples: [12] })

const organization_id = text('Only of this organization')
const period_type = Type.Optional(
  Type.String({ default: 'daily', description: 'hourly, daily, weekly or monthly, in any case' }),
)

export const DomainsQuery = Type.Object({
  ...PageQuery,
  organization_id,
  period_type,
  q: text('Part of the domain'),
  max_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 100, description: 'Only scores up to this one' }),
  ),
  ...SortQuery(DOMAIN_SORTS),
})

export const DomainReputation = Type.Object(
  {
    id: Type.String(),
    domain: Type.String({ examples: ['acme.example'] }),
    domain_id: Type.String(),
    organization_id: Type.String(),
    overall_score: score,
    deliverability_score: score,
    engagement_score: score,
    emails_sent: count,
    emails_delivered: count,
    emails_bounced: count,
    emails_complained: count,
    emails_opened: count,
    emails_clicked: count,
    period_start: Timestamp,
    period_end: Timestamp,
    period_type: Type.String({ examples: ['DAILY'] }),
    isp_data: Nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Complaints by provider',
          examples: [{ complaints: { 'isp.example': 2 } }],
        },
      ),
    ),
    trend: Nullable(
      Type.Number({ description: 'Against the period before; null when there is none' }),
    ),
  },
  { title: 'DomainReputation' },
)

export const DomainParams = Type.Object({ domain: Type.String() })

export const DomainQuery = Type.Object({
  period_type,
  history_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
  complaint_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 25 })),
})

export const FeedbackLoop = Type.Object(
  {
    id: Type.String(),
    original_recipient: Type.String({
      description: 'The complaining recipient; empty if the provider omits it',
      examples: ['grace@isp.example'],
    }),
    complaint_recipient: Nullable(
      Type.String({ description: 'Address that the report was sent to' }),
    ),
    organization_id: Type.String(),
    isp_name: Type.String({ examples: ['isp.example'] }),
    feedback_type: Type.String({ examples: ['abuse'] }),
    email_id: Nullable(Type.String({ description: 'Message-ID without its angle brackets' })),
    subject: Nullable(Type.String()),
    sender: Nullable(Type.String({ examples: ['news@acme.example'] })),
    processed: Type.Boolean({ description: 'false: an operator has to review it' }),
    suppression_added: Type.Boolean(),
    created_at: Timestamp,
    processed_at: Nullable(Timestamp),
  },
  { title: 'FeedbackLoop' },
)

export const DomainDetail = Type.Object({
  domain: Type.String({ examples: ['acme.example'] }),
  current: Type.Union([DomainReputation, Type.Null()], {
    description: 'The newest period; null while the domain has sent nothing',
  }),
  history: Type.Array(DomainReputation, { description: 'Newest first' }),
  complaints: Type.Array(FeedbackLoop, {
    description: 'About mail that the domain sent, newest first',
  }),
})

export const IpsQuery = Type.Object({
  ...PageQuery,
  q: text('Part of the address'),
  is_blocked: Type.Optional(Type.Boolean()),
  max_score: Type.Optional(Type.Number()),
  min_score: Type.Optional(Type.Number()),
  ...SortQuery(IP_SORTS),
})

export const IpReputation = Type.Object(
  {
    id: Type.String(),
    ip_address: Type.String({ examples: ['203.0.113.9'] }),
    reputation_score: score,
    total_connections: count,
    total_messages: count,
    spam_count: count,
    bounce_count: count,
    auth_failure_count: count,
    first_seen: Timestamp,
    last_seen: Timestamp,
    is_blocked: Type.Boolean(),
    blocked_reason: Nullable(Type.String({ examples: ['Listed by bl.example'] })),
    blocked_until: Nullable(Timestamp),
    updated_at: Timestamp,
  },
  { title: 'IpReputation' },
)

export const FeedbackQuery = Type.Object({
  ...PageQuery,
  organization_id,
  domain: text("The sender's domain"),
  provider: text('The provider that forwarded the complaint, in any case'),
  feedback_type: text('Such as abuse, in any case'),
  processed: Type.Optional(Type.Boolean()),
  date_from: text('ISO date or datetime, inclusive'),
  date_to: text('ISO date or datetime, inclusive; a date means the end of that day'),
  q: text('Part of the sender'),
  ...SortQuery(FEEDBACK_SORTS),
})

export const FeedbackParams = Type.Object({ feedback_id: Type.String() })

export const FeedbackDecision = Body({
  processed: Type.Boolean({ description: 'Nothing is left to do; false: open again' }),
  reason: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Stored in the audit log',
    examples: ['Recipient found by the Message-ID and removed from the list'],
  }),
})

export const SummaryQuery = Type.Object({
  organization_id,
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
  period_type,
})

export const ReputationSummary = Type.Object({
  worst_domains: Type.Array(DomainReputation),
  worst_ips: Type.Array(IpReputation),
  complaint_trend: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date', examples: ['2026-11-15'] }),
      complaints: Type.Integer({ description: 'Reports of providers' }),
      delivered: count,
      complained: Type.Integer({ description: 'Complaints about mail of hosted domains' }),
      complaint_rate: Nullable(
        Type.Number({ description: 'Of what was delivered; null when nothing was' }),
      ),
    }),
    { description: 'One entry a day of UTC, oldest first' },
  ),
  suppressions: Type.Object({
    total: Type.Integer({ description: 'In force' }),
    by_type: Type.Object({
      BOUNCE: count,
      COMPLAINT: count,
      UNSUBSCRIBE: count,
      MANUAL: count,
    }),
  }),
})
