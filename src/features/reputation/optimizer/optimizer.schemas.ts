import { Type } from 'typebox'
import { Body, Nullable } from '../../../http/envelope.ts'

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
