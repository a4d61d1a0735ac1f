import { Type } from 'typebox'
import { Nullable, Timestamp } from '../../http/envelope.ts'

export const REPORT_TYPES = [
  'dashboard',
  'email-volume',
  'engagement',
  'deliverability',
  'metrics',
] as const
export type ReportType = (typeof REPORT_TYPES)[number]

const Count = Type.Integer({ minimum: 0 })

export const DomainParams = Type.Object({ domain: Type.String({ examples: ['example.com'] }) })

export const PeriodQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Back from now; 30 unless given' }),
  ),
  start: Type.Optional(
    Type.String({ description: 'ISO date or datetime from which on, instead of days' }),
  ),
  end: Type.Optional(
    Type.String({ description: 'ISO date or datetime; a date means the end of that day' }),
  ),
  timezone: Type.Optional(
    Type.String({ description: 'Time zone of the days, such as Europe/Berlin; default UTC' }),
  ),
})

const about = {
  domain: Type.String({ examples: ['example.com'] }),
  period_days: Type.Integer({ examples: [30] }),
}
const generated_at = Timestamp

const counts = {
  total_sent: Count,
  delivered: Count,
  bounced: Count,
  failed: Type.Integer({ description: 'Rejected, or deferred and not delivered since' }),
  attempts: Type.Integer({ description: 'Delivery attempts for them, with every retry' }),
  opened: Count,
  clicked: Count,
  complained: Count,
  unsubscribed: Count,
}

export const Dashboard = Type.Object({ ...about, ...counts, generated_at })

export const EmailVolume = Type.Object({
  ...about,
  volume: Type.Array(
    Type.Object({
      date: Type.String({ examples: ['2026-11-15'] }),
      outbound: Count,
      inbound: Count,
    }),
    { description: 'Days without mail are absent' },
  ),
  generated_at,
})

const Rate = Type.Number({ description: 'Percent' })

export const Engagement = Type.Object({
  ...about,
  delivered: Count,
  opens: Count,
  clicks: Count,
  unique_opens: Type.Integer({ description: 'Recipients who opened' }),
  unique_clicks: Type.Integer({ description: 'Recipients who clicked' }),
  open_rate: Rate,
  click_rate: Rate,
  click_to_open_rate: Rate,
  reply_rate: Nullable(Type.Number({ description: 'Not measured' })),
  average_read_time_seconds: Nullable(Type.Number({ description: 'Not measured' })),
  generated_at,
})

export const Deliverability = Type.Object({
  ...about,
  total_sent: Count,
  bounced: Count,
  bounce_rate: Rate,
  complaints: Count,
  complaint_rate: Rate,
  average_spam_score: Type.Number(),
  dkim_configured: Type.Boolean({ description: 'Signing is on and there is a key' }),
  dkim_selector: Type.String(),
  spf_pass_rate: Nullable(Type.Number({ description: 'Not measured' })),
  dmarc_pass_rate: Nullable(Type.Number({ description: 'Not measured' })),
  inbox_placement_estimate: Nullable(Type.Number({ description: 'Not measured' })),
  generated_at,
})

export const Metrics = Type.Object({
  ...about,
  ...counts,
  storage_used_bytes: Count,
  storage_quota_bytes: Count,
  active_email_accounts: Count,
  max_email_accounts: Count,
  lifetime_emails: Count,
  lifetime_attachments: Count,
  generated_at,
})

export const Health = Type.Object({
  status: Type.Literal('healthy'),
  service: Type.Literal('analytics'),
})
