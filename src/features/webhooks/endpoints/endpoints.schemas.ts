import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { DAY_SECONDS } from '../../../lib/time.ts'

const Id = Type.String({ examples: ['01K9ZQ5T3M8B7C6D5E4F3G2H1J'] })
const Url = Type.String({ maxLength: 1000, examples: ['https://hooks.acme.example/mail'] })
const EventTypes = Type.Array(Type.String({ examples: ['email.delivered'] }), {
  description: 'Empty: all of them. `email.*` means all that begin with `email.`',
})

export const WebhookEndpoint = Type.Object(
  {
    id: Id,
    organization_id: Nullable(Type.String({ description: "null: the platform's own" })),
    url: Url,
    name: Type.String({ examples: ['webhook'] }),
    description: Type.String(),
    active: Type.Boolean(),
    event_types: EventTypes,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'WebhookEndpoint' },
)

export const CreatedEndpoint = Type.Object(
  {
    id: Id,
    organization_id: Nullable(Type.String()),
    url: Url,
    secret: Type.String({
      description: 'Shown this once',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    active: Type.Boolean(),
  },
  { title: 'CreatedWebhookEndpoint' },
)

export const EndpointParams = Type.Object({ endpoint_id: Type.String() })

export const EndpointQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
})

const settings = {
  name: Type.Optional(Type.String({ maxLength: 255, examples: ['Delivery reports'] })),
  description: Type.Optional(Nullable(Type.String())),
  active: Type.Optional(Type.Boolean({ examples: [true] })),
  event_types: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'null: all of them. `email.*` means all that begin with `email.`',
      examples: [['email.delivered', 'email.bounced']],
    }),
  ),
}

export const NewEndpoint = Body({
  url: Url,
  ...settings,
  secret: Type.Optional(
    Nullable(Type.String({ maxLength: 512, description: 'Generated when omitted' })),
  ),
  organization_id: Type.Optional(
    Nullable(
      Type.String({
        description: 'Platform callers only; without it the endpoint belongs to the platform',
      }),
    ),
  ),
})

export const EndpointChange = Body(
  {
    url: Type.Optional(Url),
    ...settings,
    secret: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  { description: 'At least one field' },
)

export const SecretRotation = Body({
  secret: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'Generated when omitted' }),
  ),
  overlap_seconds: Type.Integer({
    minimum: 0,
    maximum: 7 * DAY_SECONDS,
    default: DAY_SECONDS,
    description: 'Seconds that the old secret signs beside the new one',
  }),
})

export const RotatedSecret = Type.Object(
  {
    id: Id,
    secret: Type.String({
      description: 'Shown this once',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    previous_secret_until: Timestamp,
  },
  { title: 'RotatedWebhookSecret' },
)

export const UpdatedEndpoint = Type.Object({ id: Id })
export const TestedEndpoint = Type.Object({ endpoint_id: Id })
