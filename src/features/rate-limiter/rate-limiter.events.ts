import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Entity = {
  entity_type: Type.String({ description: 'organization, domain, mailbox or credential' }),
  identifier: Type.String(),
  direction: Type.String(),
}
const Window = Type.String({
  description: 'second, minute, hourly, daily, monthly or burst',
})

export const RateLimitExceeded = defineEvent('rate_limit.exceeded', {
  source: 'rate_limiter',
  summary: 'A message was refused because a limit was reached',
  data: Type.Object({
    ...Entity,
    window: Window,
    limit: Type.Integer(),
    count: Type.Integer({ description: 'messages in the window when it was refused' }),
    sender: Type.String(),
    refusals: Type.Integer({
      description: 'how many refusals this event stands for; a flood of them is told in sums',
    }),
  }),
})

export const RateLimitThresholdBreach = defineEvent('rate_limit.threshold_breach', {
  source: 'rate_limiter',
  summary: 'A threshold of an hourly, daily or monthly limit was reached; once per window',
  data: Type.Object({
    ...Entity,
    window: Window,
    level: Type.String({ description: 'warning or critical' }),
    threshold: Type.Integer({ description: 'in percent' }),
    count: Type.Integer(),
    limit: Type.Integer(),
    percentage: Type.Number(),
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
