import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { Nullable } from '../../http/envelope.ts'

const Named = {
  api_key_id: Type.String({ description: 'The key_id, not the secret' }),
  name: Type.String({ examples: ['billing'] }),
  organization_id: Nullable(Type.String({ description: 'null for a platform key' })),
}

export const ApiKeyCreated = defineEvent('auth.api_key.created', {
  source: 'api',
  summary: 'An API key was issued',
  data: Type.Object({
    ...Named,
    scopes: Type.Array(Type.String(), { examples: [['domains:read']] }),
    replaces: Type.Optional(
      Type.String({
        description: 'The key that was rotated',
        examples: ['ZmrO3rqS_01M7EKRJTAGDPXAR2M8RGM4MN2'],
      }),
    ),
  }),
})

export const ApiKeyRevoked = defineEvent('auth.api_key.revoked', {
  source: 'api',
  summary: 'An API key was revoked',
  data: Type.Object(Named),
})
