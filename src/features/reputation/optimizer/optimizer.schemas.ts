import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'
import { Paginated } from '../../../http/paging.ts'

const name = Type.String({ minLength: 1, maxLength: 255 })
const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000 }))

export const Destination = Body({
  recipient_domain: name,
  organization_id: name,
  sender_ip: Type.Optional(Nullable(Type.String())),
})

const BOUNCES =
  '^([Hh][Aa][Rr][Dd]|[Ss][Oo][Ff][Tt]|[Cc][Oo][Mm][Pp][Ll][Aa][Ii][Nn][Tt]|[Uu][Nn][Ss][Uu][Bb][Ss][Cc][Rr][Ii][Bb][Ee])$'

export const Bounce = Body({
  organization_id: name,
  recipient: name,
  sender: text(255),
  bounce_type: Type.String({ pattern: BOUNCES }),
  bounce_code: text(50),
  diagnostic: text(10_000),
})

export const Feedback = Body({
  organization_id: Type.Optional(Nullable(name)),
  reporter: text(255),
  feedback_type: text(50),
  original_recipient: text(255),
  original_sender: text(255),
  email_id: text(255),
  subject: text(1000),
  report: Type.Optional(
    Nullable(Type.String({ maxLength: 512 * 1024, description: 'The whole report as it came' })),
  ),
})

export const WarmUp = Body({
  ip_address: name,
  organization_id: name,
  target_daily_volume: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
  warmup_days: Type.Integer({ minimum: 1, maximum: 365 }),
})

export const Limits = Body(
  {
    hourly_limit: limit,
    daily_limit: limit,
    burst_limit: limit,
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
    max_concurrent: limit,
  },
  { minProperties: 1 },
)

const reason = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Stored in the audit log',
  examples: ['New IP address since Monday'],
})
export const Reason = Body({ reason })

const volume = Type.Integer({
  minimum: 1,
  maximum: 100_000_000,
  description: 'Messages a day at the end of the warm-up',
  examples: [5000],
})
const days = Type.Integer({ minimum: 1, maximum: 365, examples: [30] })

export const WarmUpParams = Type.Object({ ip_address: Type.String() })

export const NewWarmUp = Body({
  ip_address: Type.String({
    maxLength: 255,
    description: 'The IP address that mail leaves from',
    examples: ['203.0.113.9'],
  }),
  organization_id: Type.Optional(
    Nullable(
      Type.String({
        description:
          'The organization that sends from this IP address; absent or null: all organizations without a warm-up of their own',
      }),
    ),
  ),
  target_daily_volume: volume,
  warmup_days: days,
  reason,
})

export const WarmUpUpdate = Body({
  target_daily_volume: Type.Optional(volume),
  warmup_days: Type.Optional(days),
  paused: Type.Optional(
    Type.Boolean({ description: 'The limit of today stays until it is resumed' }),
  ),
  reason,
})

export const WarmUpSchedule = Type.Object(
  {
    ip_address: Type.String({ examples: ['203.0.113.9'] }),
    organization_id: Nullable(Type.String({ description: 'null: all other organizations' })),
    target_daily_volume: volume,
    warmup_days: days,
    started_at: Timestamp,
    paused_at: Nullable(Timestamp),
    day: Type.Integer({ description: 'From 1, in UTC' }),
    completed: Type.Boolean({ description: 'Mail is not limited any more' }),
    stage: Type.String({ examples: ['day 1'] }),
    today_limit: Type.Integer({ description: 'Messages that may be delivered today' }),
    sent_today: Type.Integer({ description: 'Messages that were delivered today' }),
    under_way: Type.Integer({ description: 'Handed to Postfix, without a result yet' }),
    waiting: Type.Integer({ description: 'On hold in the queue until the limit allows them' }),
  },
  { title: 'WarmUpSchedule' },
)
export const EndedWarmUp = Type.Object({
  ip_address: Type.String(),
  organization_id: Nullable(Type.String()),
})

const enforcement = {
  enforced: Type.Boolean({ description: 'false: this installation does not pace mail' }),
  note: Nullable(Type.String({ description: 'Variables to set when limits are not enforced' })),
}
const amount = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 100_000_000, description })
const limits = {
  hourly_limit: amount('Messages an hour, for each organization'),
  daily_limit: amount('Messages a day, for each organization'),
  burst_limit: amount('Messages a minute that are accepted without a delay'),
  delay_ms: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    description: 'Delay of each message after the burst',
  }),
}

export const LimitParams = Type.Object({
  domain: Type.String({ description: 'Domain of the recipients, or `default` for all others' }),
})
export const LimitUpdate = Body({
  hourly_limit: Type.Optional(limits.hourly_limit),
  daily_limit: Type.Optional(limits.daily_limit),
  burst_limit: Type.Optional(limits.burst_limit),
  delay_ms: Type.Optional(limits.delay_ms),
  reason,
})
export const DestinationLimit = Type.Object(
  {
    domain: Type.String({ examples: ['gmail.com'] }),
    ...limits,
    is_built_in: Type.Boolean({ description: 'false: set by an operator' }),
    waiting: Type.Integer({ description: 'Messages on hold until the limit allows them' }),
  },
  { title: 'DestinationLimit' },
)
export const ChangedLimit = Type.Object({ ...DestinationLimit.properties, ...enforcement })
export const LimitPage = Type.Object({
  ...Paginated(DestinationLimit).properties,
  ...enforcement,
})
export const RemovedLimit = Type.Object({ domain: Type.String() })
