import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { CHANNEL_TYPES, COMPARATORS, METRICS, SEVERITIES } from './alert-metrics.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const Metric = OneOf(METRICS)
const Comparator = OneOf(COMPARATORS)
const Severity = OneOf(SEVERITIES)
const direction = Type.Optional(OneOf(['asc', 'desc'], { default: 'desc' }))

export const AlertMetrics = Type.Object({
  items: Type.Array(
    Type.Object({
      metric: Metric,
      unit: Type.String(),
      description: Type.String(),
      per_organization: Type.Boolean({ description: 'A rule may watch a single organization' }),
    }),
  ),
  comparators: Type.Array(Comparator),
  severities: Type.Array(Severity),
  channel_types: Type.Array(OneOf(CHANNEL_TYPES)),
})

const RULE_SORTS = [
  'created_at',
  'name',
  'metric',
  'severity',
  'updated_at',
  'last_fired_at',
] as const

export const RuleQuery = Type.Object({
  ...PageQuery,
  q: text('Part of name or description'),
  metric: Type.Optional(Metric),
  severity: Type.Optional(Severity),
  enabled: Type.Optional(Type.Boolean()),
  organization_id: text('Exact'),
  sort: Type.Optional(OneOf(RULE_SORTS, { default: 'created_at' })),
  direction,
})

export const RuleParams = Type.Object({ rule_id: Type.String() })

export const AlertRule = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Nullable(Type.String()),
    metric: Metric,
    comparator: Comparator,
    threshold: Type.Number(),
    for_seconds: Type.Integer({
      description: 'Seconds that the condition must hold before the rule fires',
    }),
    severity: Severity,
    enabled: Type.Boolean(),
    channel_ids: Type.Array(Type.String()),
    organization_id: Nullable(Type.String({ description: 'null: the whole platform' })),
    last_fired_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AlertRule' },
)

const rule = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2000 }))),
  metric: Metric,
  comparator: Comparator,
  threshold: Type.Number(),
  for_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, default: 0 })),
  severity: Type.Optional(OneOf(SEVERITIES, { default: 'warning' })),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  channel_ids: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 })),
  organization_id: Type.Optional(Nullable(Type.String({ minLength: 1 }))),
}

export const DefaultRules = Body({ channel_ids: rule.channel_ids })
export const AddedRules = Type.Object({
  items: Type.Array(AlertRule, { description: 'The added rules; empty when none was missing' }),
})
export const NewRule = Body(rule)
export const RuleChange = Body({
  name: Type.Optional(rule.name),
  description: rule.description,
  metric: Type.Optional(Metric),
  comparator: Type.Optional(Comparator),
  threshold: Type.Optional(rule.threshold),
  for_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  severity: Type.Optional(Severity),
  enabled: Type.Optional(Type.Boolean()),
  channel_ids: rule.channel_ids,
  organization_id: rule.organization_id,
})

export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) })

export const Evaluation = Type.Object({
  rule_id: Type.String(),
  name: Type.String(),
  metric: Metric,
  comparator: Comparator,
  threshold: Type.Number(),
  unit: Type.String(),
  value: Nullable(Type.Number()),
  would_fire: Type.Boolean({ description: 'The condition holds now; for_seconds is ignored' }),
  severity: Severity,
  enabled: Type.Boolean(),
  for_seconds: Type.Integer(),
  for_seconds_honoured: Type.Literal(false),
  unavailable_reason: Nullable(Type.String()),
  message: Type.String(),
  evaluated_at: Timestamp,
  notified: Type.Literal(false),
  recorded: Type.Literal(false),
})

export const ChannelQuery = Type.Object({
  type: Type.Optional(OneOf(CHANNEL_TYPES)),
  enabled: Type.Optional(Type.Boolean()),
})

export const ChannelParams = Type.Object({ channel_id: Type.String() })

export const AlertChannel = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    type: OneOf(CHANNEL_TYPES),
    target: Type.String(),
    enabled: Type.Boolean(),
    has_signing_secret: Type.Boolean(),
    last_used_at: Nullable(Timestamp),
    last_error: Nullable(Type.String({ description: 'null after a success' })),
    created_at: Timestamp,
  },
  { title: 'AlertChannel' },
)

export const AlertChannels = Type.Object({ items: Type.Array(AlertChannel) })

export const NewChannel = Body({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  type: OneOf(CHANNEL_TYPES),
  target: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'An e-mail address, or an absolute http or https URL',
  }),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  signing_secret: Type.Optional(
    Nullable(Type.String({ maxLength: 512, description: 'Stored encrypted and never returned' })),
  ),
})

export const ChannelDeleted = Type.Object({
  ...Deleted.properties,
  referencing_rules: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
})

export const ChannelTested = Type.Object({
  type: OneOf(['success', 'error']),
  msg: Type.String(),
  data: Type.Object({
    channel_id: Type.String(),
    delivered: Type.Boolean(),
    error: Nullable(Type.String()),
  }),
})

export const HistoryQuery = Type.Object({
  ...PageQuery,
  rule_id: text('Exact'),
  state: Type.Optional(OneOf(['firing', 'resolved'])),
  severity: Type.Optional(Severity),
  date_from: text('ISO date or datetime, inclusive'),
  date_to: text('ISO date or datetime, inclusive; a date means the end of that day'),
  sort: Type.Optional(OneOf(['created_at', 'severity'], { default: 'created_at' })),
  direction,
})

export const AlertEvent = Type.Object(
  {
    id: Type.Integer(),
    rule_id: Nullable(Type.String()),
    rule_name: Type.String(),
    severity: Severity,
    value: Nullable(Type.Number()),
    threshold: Type.Number(),
    state: OneOf(['firing', 'resolved']),
    message: Nullable(Type.String()),
    created_at: Timestamp,
    resolved_at: Nullable(Timestamp),
  },
  { title: 'AlertEvent' },
)
