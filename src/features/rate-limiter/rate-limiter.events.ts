import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Entity = {
  entity_type: Type.String({ description: 'organization, domain, mailbox or smtp_credential' }),
  identifier: Type.String(),
  direction: Type.String({ description: 'outbound or inbound' }),
}
const counted = {
  window: Type.String({ description: 'second, minute, hourly, daily, monthly or burst' }),
  current_count: Type.Integer({ description: 'Messages in the window' }),
  limit: Type.Integer(),
}

export const RateLimitExceeded = defineEvent('rate_limit.exceeded', {
  source: 'rate_limiter',
  summary: 'A message was refused because a limit was reached',
  data: Type.Object({
    ...Entity,
    ...counted,
    message: Type.String({ description: 'Answer that the sender received' }),
    sender: Type.String(),
    refusals: Type.Integer({
      description:
        'Number of refusals that this event represents; many refusals are combined into one event',
    }),
  }),
})

export const RateLimitThresholdBreach = defineEvent('rate_limit.threshold_breach', {
  source: 'rate_limiter',
  summary: 'A threshold of an hourly, daily or monthly limit was reached; once per window',
  data: Type.Object({
    ...Entity,
    ...counted,
    usage_percentage: Type.Number({ description: 'With two decimals' }),
    threshold_level: Type.String({ description: 'warning or critical' }),
  }),
})

export const RateLimitReset = defineEvent('rate_limit.reset', {
  source: 'rate_limiter',
  summary: 'Counters were reset, or a rule was changed, which then also has its limits here',
  data: Type.Object({
    ...Entity,
    hourly_limit: Type.Optional(Type.Integer()),
    daily_limit: Type.Optional(Type.Integer()),
    monthly_limit: Type.Optional(Type.Integer()),
    active: Type.Optional(Type.Boolean()),
    updated_by: Type.Optional(Type.String()),
  }),
})
