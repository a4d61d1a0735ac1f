import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { EVENT_TYPES } from './tracking-events.repository.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const byType = <Counts extends ReturnType<typeof Type.Object>>(counts: Counts) =>
  Type.Record(Type.String(), counts, {
    description: `By type of event: ${EVENT_TYPES.join(', ')}`,
    examples: [{}],
  })
const people = { total: Type.Integer({ description: 'By people' }) }
const machines = {
  automated: Type.Integer({ description: 'By scanners, prefetchers and privacy proxies' }),
}

export const TrackingParams = Type.Object({
  tracking_id: Type.String({ description: 'The identity: only the recipient has it' }),
})
export const Unsubscription = Body({
  reason: Type.Optional(Type.String({ description: 'one-click-post unless given' })),
  feedback: Type.Optional(Type.String({ description: 'Accepted for compatibility; not stored' })),
})
const Unsubscribed = Type.Object({ status: Type.Literal('unsubscribed'), email: Type.String() })
export const UnsubscribedAnswer = Type.Object({
  type: Type.Literal('success'),
  msg: Type.String(),
  data: Unsubscribed,
  ...Unsubscribed.properties,
})

export const DomainParams = Type.Object({ domain: Type.String() })
export const DaysQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
})
export const DomainStatistics = Type.Object({
  domain: Type.String(),
  domain_id: Type.String(),
  period_days: Type.Integer(),
  start_date: Timestamp,
  end_date: Timestamp,
  event_statistics: byType(
    Type.Object({
      ...people,
      unique_emails: Type.Integer(),
      unique_recipients: Type.Integer(),
      ...machines,
    }),
  ),
  total_sent: Type.Integer({ description: 'Deliveries in the mail log' }),
  total_opens: Type.Integer(),
  total_clicks: Type.Integer(),
  generated_at: Timestamp,
})

export const EmailParams = Type.Object({
  email_id: Type.String({ description: 'Message-ID, with or without angle brackets' }),
})
const words = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, Nullable(Type.String())]))
const TrackingEvent = Type.Object(
  {
    id: Type.String(),
    email_id: Nullable(Type.String()),
    recipient: Type.String(),
    organization_id: Type.String(),
    domain_id: Nullable(Type.String()),
    event_type: OneOf(EVENT_TYPES),
    timestamp: Timestamp,
    automated: Type.Boolean(),
    automated_reason: Nullable(Type.String()),
    url: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    ip_address: Nullable(Type.String()),
    referer: Nullable(Type.String()),
    accept_language: Nullable(Type.String()),
    device_type: Nullable(Type.String()),
    browser: Nullable(Type.String()),
    operating_system: Nullable(Type.String()),
    country: Nullable(Type.String()),
    region: Nullable(Type.String()),
    city: Nullable(Type.String()),
    additional_data: Nullable(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'TrackingEvent' },
)
export const EmailStatistics = Type.Object({
  email_id: Type.String(),
  statistics: byType(
    Type.Object({
      ...people,
      unique: Type.Integer({ description: 'Recipients' }),
      unique_ips: Type.Integer(),
      ...machines,
      first_event: Timestamp,
      last_event: Timestamp,
    }),
  ),
  device_breakdown: Type.Array(
    Type.Object({
      ...words(['device_type', 'browser', 'operating_system']),
      count: Type.Integer(),
    }),
  ),
  geographic_breakdown: Type.Array(
    Type.Object({ ...words(['country', 'region', 'city']), count: Type.Integer() }),
  ),
  timeline: Type.Array(TrackingEvent, { description: 'The newest 100' }),
  message: Type.Optional(Type.String({ description: 'Present when there is nothing to show yet' })),
  generated_at: Timestamp,
})

export const NewSuppression = Body({
  email: Type.String({ examples: ['jane@elsewhere.example'] }),
  reason: Type.Optional(Nullable(Type.String({ description: 'manual unless given' }))),
  organization_id: Type.Optional(
    Nullable(Type.String({ description: 'Of platform callers; a tenant is always its own' })),
  ),
})
export const SuppressionParams = Type.Object({ email: Type.String() })
export const OrganizationQuery = Type.Object({
  organization_id: text('Of platform callers; a tenant is always its own'),
})
export const SuppressionAnswer = Type.Object({
  status: Type.Literal('success'),
  email: Type.String(),
})

export const SuppressionQuery = Type.Object({
  organization_id: text('Exact'),
  suppression_type: text('BOUNCE, COMPLAINT, UNSUBSCRIBE or MANUAL, in any case'),
  active: Type.Optional(Type.Boolean()),
  q: text('A part of the address'),
  date_from: text('ISO date or datetime, inclusive'),
  date_to: text('ISO date or datetime, inclusive; a date means the end of that day'),
  sort_by: text('created_at (default) or email'),
  sort_dir: text('desc (default) or asc'),
  ...PageQuery,
})
export const Suppression = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    organization_id: Type.String(),
    suppression_type: Type.String({ examples: ['MANUAL'] }),
    reason: Nullable(Type.String()),
    source: Nullable(Type.String()),
    bounce_type: Nullable(Type.String()),
    bounce_count: Type.Integer(),
    active: Type.Boolean(),
    expires_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Suppression' },
)

export const BulkSuppression = Body({
  emails: Type.Array(Type.String(), {
    minItems: 1,
    description: 'At most 1000',
    examples: [['jane@elsewhere.example']],
  }),
  suppression_type: Type.Optional(
    Type.String({ default: 'MANUAL', description: 'BOUNCE, COMPLAINT, UNSUBSCRIBE or MANUAL' }),
  ),
  reason: Type.String({ minLength: 1, examples: ['Asked for by telephone'] }),
  organization_id: Type.Optional(
    Nullable(Type.String({ description: 'Organization of the list' })),
  ),
})
export const BulkAnswer = Type.Object({
  suppressed: Type.Array(
    Type.Object({ email: Type.String(), suppression_type: Type.String({ examples: ['MANUAL'] }) }),
  ),
  failed: Type.Array(Type.Object({ email: Type.String(), error: Type.String() })),
  requested: Type.Integer({ description: 'Without duplicates' }),
  organization_id: Type.String(),
})
