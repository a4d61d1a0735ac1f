import { Type } from 'typebox'
import { SCOPES } from '../../access/scopes.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'

export const STATUSES = ['active', 'expired', 'revoked'] as const

const Scopes = {
  description: 'read, write or admin, for the whole API or for one area: domains:write',
  examples: [['domains:read', 'mailboxes:write']],
}

export const ApiKey = Type.Object(
  {
    key_id: Type.String({ examples: ['ZmrO3rqS_01M7EKRJTAGDPXAR2M8RGM4MN2'] }),
    name: Type.String({ examples: ['billing'] }),
    organization_id: Nullable(Type.String({ description: 'null for a platform key' })),
    organization_name: Nullable(Type.String()),
    scope: OneOf(['organization', 'platform']),
    scopes: Type.Array(Type.String(), Scopes),
    status: OneOf(STATUSES),
    expires_at: Nullable(Timestamp),
    last_used: Nullable(Timestamp),
    created_by: Nullable(Type.String({ description: 'null for a key of the command line' })),
    created_at: Timestamp,
  },
  { title: 'ApiKey' },
)

export const IssuedApiKey = Type.Object({
  ...ApiKey.properties,
  api_key: Type.String({ description: 'The secret; returned only in this response' }),
})

export const KeyParams = Type.Object({ key_id: Type.String() })

export const KeyQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
  q: Type.Optional(Type.String({ description: 'Part of the name or of the key_id' })),
  status: Type.Optional(OneOf(STATUSES)),
})

export const NewApiKey = Body({
  name: Type.String({ minLength: 1, maxLength: 255, examples: ['billing'] }),
  scopes: Type.Optional(
    Type.Array(OneOf(SCOPES), {
      minItems: 1,
      maxItems: 60,
      ...Scopes,
      description: `${Scopes.description}; default: write`,
    }),
  ),
  expires_at: Type.Optional(
    Nullable(Type.String({ description: 'ISO date or datetime in the future; absent: no end' })),
  ),
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})

export const Rotation = Type.Optional(
  Body({
    overlap_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        default: 0,
        description: 'Hours that the old key works beside the new one; 0 revokes it at once',
      }),
    ),
  }),
)
