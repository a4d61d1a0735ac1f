import { Type } from 'typebox'
import { MOST_MEGABYTES } from '../../hosting/quota-configuration.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { ENTITY_TYPES } from './usage/kinds.ts'

const answer = {
  success: Type.Literal(true),
  entity_type: OneOf(['domain', 'mailbox']),
  identifier: Type.String(),
  timestamp: Timestamp,
}

export const DomainParams = Type.Object({ domain: Type.String() })
export const MailboxParams = Type.Object({ email: Type.String() })

export const UsageQuery = Type.Object({
  force_calculate: Type.Optional(
    Type.Boolean({ default: false, description: 'Have Dovecot count now' }),
  ),
})

const usage = {
  used_bytes: Type.Integer(),
  email_bytes: Type.Integer(),
  attachment_bytes: Type.Integer(),
  quota_bytes: Nullable(Type.Integer({ description: 'null: no limit' })),
  usage_percentage: Type.Number(),
  total_emails: Type.Integer(),
  total_attachments: Type.Integer(),
  last_calculated_at: Nullable(Timestamp),
  calculation_time_ms: Nullable(Type.Integer()),
}
export const DomainUsage = Type.Object({
  ...answer,
  usage: Type.Object({
    ...usage,
    total_email_accounts: Type.Integer(),
    complete: Type.Boolean({ description: 'false: there was no time to count every mailbox' }),
  }),
})
export const MailboxUsage = Type.Object({
  ...answer,
  usage: Type.Object({ ...usage, total_files: Type.Integer() }),
})

const QuotaConfiguration = Type.Object({
  total_storage_limit: Nullable(Type.Integer({ description: 'Bytes; null: no limit' })),
  attachment_storage_limit: Type.Integer(),
  max_file_size: Type.Integer(),
  max_attachment_size: Type.Integer(),
  max_email_size: Type.Integer(),
  enforce_limits: Type.Boolean(),
  warning_threshold: Type.Integer({ description: 'Percent' }),
  critical_threshold: Type.Integer({ description: 'Percent' }),
  allowed_file_types: Nullable(Type.Array(Type.String())),
  blocked_file_types: Nullable(Type.Array(Type.String())),
})
const override = { quota_override: Type.Boolean() }
export const Quotas = Type.Object({
  ...answer,
  quota_configuration: QuotaConfiguration,
  default_mailbox_quota_mb: Type.Optional(
    Nullable(Type.Integer({ description: 'Of a domain: for mailboxes that ask for none' })),
  ),
})
export const ChangedQuotas = Type.Object({
  ...Quotas.properties,
  ...override,
  cache_flushed: Type.Boolean({ description: 'false: Dovecot may use the old quota for an hour' }),
})

const megabytes = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_MEGABYTES, description }))
const warning_threshold_percent = Type.Optional(Type.Integer({ minimum: 1, maximum: 100 }))

export const DomainQuotaChange = Body({
  domain_quota_mb: megabytes('Storage quota of all mailboxes of the domain together'),
  default_mailbox_quota_mb: megabytes('For new mailboxes that ask for none'),
  warning_threshold_percent,
})
export const MailboxQuotaChange = Body({
  quota_mb: megabytes('Storage quota of the mailbox'),
  warning_threshold_percent,
})

export const StorageSummary = Type.Object({
  total_storage_used: Type.Integer(),
  total_quota: Type.Integer(),
  usage_percentage: Type.Number(),
  domain_count: Type.Integer(),
  account_count: Type.Integer(),
  top_domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      storage_used: Type.Integer(),
      max_quota: Type.Integer(),
    }),
  ),
  top_accounts: Type.Array(
    Type.Object({
      email: Type.String(),
      storage_used: Type.Integer(),
      storage_quota: Type.Integer(),
    }),
  ),
})

export const HistoryParams = Type.Object({
  entity_type: OneOf(ENTITY_TYPES),
  identifier: Type.String({
    description: 'Id of an organization, name of a domain, or address of a mailbox',
  }),
})
export const HistoryQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366, default: 30 })),
})
const Day = Type.String({ format: 'date', examples: ['2026-11-15'] })
const ByType = Type.Array(
  Type.Object({
    storage_type: Type.String({ description: 'mailbox, attachments, dav, archive, or total' }),
    used_bytes: Type.Integer(),
  }),
  { description: 'Attachments are a part of mailbox, and not counted again in total' },
)
export const StorageHistory = Type.Object({
  entity_type: OneOf(ENTITY_TYPES),
  identifier: Type.String(),
  by_type: ByType,
  quota_bytes: Nullable(Type.Integer({ description: 'Of mail; null: no limit' })),
  usage_percentage: Type.Number({ description: 'Of the quota, by mail' }),
  days: Type.Array(
    Type.Object({
      date: Day,
      used_bytes: Type.Integer({ description: 'All types' }),
      mailbox_bytes: Type.Integer(),
    }),
    { description: 'From the first day with a figure on' },
  ),
  forecast: Type.Union(
    [
      Type.Object({
        bytes_per_day: Type.Integer({ description: 'Growth of mail' }),
        fills_at: Nullable(Day),
        days_left: Nullable(Type.Integer()),
        based_on_days: Type.Integer({ description: 'At most 30' }),
      }),
      Type.Null(),
    ],
    {
      description:
        'Day when mail reaches the quota at this rate; null with less than 7 days of figures',
    },
  ),
  generated_at: Timestamp,
})

export const CleanupRequest = Body({
  domain: Type.Optional(Nullable(Type.String())),
  older_than_days: Type.Optional(Type.Integer({ description: '1 to 36500; 30 unless given' })),
  days_to_keep: Type.Optional(Type.Integer({ description: 'Older name of older_than_days' })),
  target: Type.Optional(Type.String({ description: 'trash (default), spam, expired or all' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Count only' })),
  delete_mail: Type.Optional(
    Type.Boolean({
      description:
        'Also remove old mail from Trash (trash), Junk (spam) or both (all); needs domain',
    }),
  ),
})
export const Cleanup = Type.Object({
  success: Type.Boolean({ description: 'false: there was no time for all of it; call again' }),
  dry_run: Type.Boolean(),
  older_than_days: Type.Integer(),
  days_to_keep: Type.Integer(),
  target: Type.String(),
  domain: Nullable(Type.String()),
  matched_records: Type.Integer(),
  cache_entries: Type.Integer(),
  cleaned_records: Type.Integer(),
  matched_messages: Type.Integer(),
  cleaned_messages: Type.Integer(),
  note: Type.String(),
  timestamp: Timestamp,
})
