import { Type } from 'typebox'
import { Body, OneOf, Timestamp } from '../../http/envelope.ts'

const MAX_LIMIT = 2_147_483_647

export const DomainParams = Type.Object({ domain: Type.String() })
export const MailboxParams = Type.Object({ email: Type.String() })
export const OrganizationParams = Type.Object({ organization_id: Type.String() })
export const DirectionQuery = Type.Object({
  direction: Type.Optional(Type.String({ description: 'outbound (default) or inbound' })),
})

const Limit = (what: string, example?: number) =>
  Type.Integer({
    minimum: 0,
    maximum: MAX_LIMIT,
    description: `${what}; 0 = no limit`,
    ...(example !== undefined && { examples: [example] }),
  })
const Threshold = (what: string) => Type.Integer({ minimum: 1, maximum: 100, description: what })

const limitFields = {
  second_limit: Limit('Messages per second'),
  minute_limit: Limit('Messages per minute'),
  hourly_limit: Limit('Recipients per hour', 100),
  daily_limit: Limit('Recipients per day', 1000),
  monthly_limit: Limit('Recipients in 30 days'),
  burst_limit: Limit('Messages in any 10 seconds, once it has been set'),
}

const ruleFields = {
  ...limitFields,
  active: Type.Boolean({ description: 'The limit is enforced' }),
  priority: Type.Integer({
    minimum: 0,
    maximum: MAX_LIMIT,
    description: 'The rule with the lowest number is looked at first',
  }),
  warning_threshold: Threshold('Percent of a limit at which a warning event is emitted'),
  critical_threshold: Threshold('Percent of a limit at which it is critical'),
  description: Type.String({ maxLength: 1000 }),
}

const RateLimitRule = Type.Object(ruleFields)

export const RuleChange = Body({
  ...Type.Partial(Type.Object(ruleFields)).properties,
  max_outbound_per_day: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT,
      description: 'Alias of daily_limit; wins when both are sent',
    }),
  ),
  direction: Type.Optional(Type.String({ description: 'outbound (default) or inbound' })),
  created_by: Type.Optional(Type.String({ maxLength: 255 })),
})
export type RuleChange = Type.Static<typeof RuleChange>

const perWindow = (value: ReturnType<typeof Type.Number>) =>
  Type.Object(
    Object.fromEntries(
      ['hourly', 'daily', 'monthly', 'second', 'minute'].map((name) => [
        name,
        Type.Optional(value),
      ]),
    ),
  )

export const RateLimitState = Type.Object({
  success: Type.Literal(true),
  data: Type.Object({
    entity_type: Type.String(),
    identifier: Type.String(),
    direction: Type.String(),
    config: RateLimitRule,
    operator_limits: Type.Object(limitFields, {
      description: 'Limits of the operator, which a tenant can lower and not lift',
    }),
    usage: Type.Object({
      hourly_count: Type.Integer(),
      daily_count: Type.Integer(),
      monthly_count: Type.Integer(),
      second_count: Type.Integer(),
      minute_count: Type.Integer(),
    }),
    percentages: perWindow(Type.Number({ description: 'Absent where there is no limit' })),
    remaining: perWindow(Type.Number({ description: 'Absent where there is no limit' })),
    timestamp: Timestamp,
  }),
})

export const RuleUpdated = Type.Object({ success: Type.Literal(true), message: Type.String() })

export const ResetBody = Type.Object({
  type: OneOf(['organization', 'domain', 'mailbox']),
  identifier: Type.String({ description: 'Organization id, domain name or address' }),
  direction: Type.Optional(OneOf(['outbound', 'inbound'], { default: 'outbound' })),
})

/** Unvalidated; the rules check it. */
export interface SentReset {
  type?: unknown
  identifier?: unknown
  direction?: unknown
}

export const CountersReset = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  entity_type: Type.String(),
  identifier: Type.String(),
  direction: Type.String(),
})
