import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'

export const OVERVIEW_DAYS = 30

export const OverviewQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      default: OVERVIEW_DAYS,
      description: 'Calendar days up to today',
    }),
  ),
  timezone: Type.Optional(
    Type.String({ description: 'Time zone of the days, such as Europe/Berlin; default UTC' }),
  ),
})

const Count = Type.Integer({ minimum: 0 })

const counts = {
  sent: Type.Integer({ description: 'Messages that logins of the organization sent' }),
  delivered: Count,
  bounced: Count,
  deferred: Type.Integer({ description: 'Not delivered yet; another attempt follows' }),
  rejected: Count,
  received: Type.Integer({ description: 'Messages that reached a mailbox' }),
}

export const KINDS = [
  'domain_unproven',
  'domain_unverified',
  'storage_full',
  'mailbox_full',
  'webhook_failing',
  'credential_expiring',
  'api_key_expiring',
] as const

const Notice = Type.Object(
  {
    kind: OneOf(KINDS),
    id: Type.String({ description: 'Of the domain, mailbox, endpoint, credential or key' }),
    name: Type.String({ examples: ['jane@example.com'] }),
    used_percent: Nullable(Type.Number({ description: 'Of the storage that is nearly full' })),
    failed_deliveries: Nullable(
      Type.Integer({ description: 'Failed attempts of the endpoint in the last 24 hours' }),
    ),
    expires_at: Nullable(Timestamp),
  },
  { title: 'OrganizationNotice' },
)

export const OrganizationOverview = Type.Object(
  {
    organization_id: Type.String(),
    timezone: Type.String({ examples: ['Europe/Berlin'] }),
    days: Type.Array(Type.Object({ date: Type.String({ examples: ['2026-11-15'] }), ...counts }), {
      description:
        'One entry for each day, oldest first, messages by their last state. Days begin at a full hour',
    }),
    totals: Type.Object(counts),
    deferred_now: Type.Integer({ description: 'Outgoing messages of the last 5 days that wait' }),
    domains: Count,
    mailboxes: Count,
    suspended_mailboxes: Count,
    storage: Type.Object({
      used_bytes: Count,
      quota_bytes: Type.Integer({ description: 'Sum of the quotas of the domains' }),
    }),
    attention: Type.Array(Notice, {
      description: 'Things that need attention; at most 20 of each kind',
    }),
    generated_at: Timestamp,
  },
  { title: 'OrganizationOverview' },
)
