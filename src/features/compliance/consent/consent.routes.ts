import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { UserParams } from '../compliance.schemas.ts'
import type { ConsentService } from './consent.service.ts'

const Consent = Type.Object(
  {
    id: Type.String(),
    user_email: Type.String(),
    consent_type: Type.String({ examples: ['marketing'] }),
    granted: Type.Boolean(),
    ip_address: Nullable(Type.String({ description: 'Of the person, when it was given' })),
    user_agent: Nullable(Type.String({ description: 'Of the person, when it was given' })),
    granted_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Consent' },
)

const NewConsent = Body({
  consent_type: Type.String({
    pattern: '^[a-z0-9][a-z0-9_.-]{0,63}$',
    description: '`third_party` is stored as `third_party_sharing`',
    examples: ['marketing'],
  }),
  granted: Type.Boolean({ description: 'false revokes it' }),
  ip_address: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 45,
        description: 'IP address of the person at that moment, when it is known',
        examples: ['192.0.2.7'],
      }),
    ),
  ),
  user_agent: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 1000,
        description: 'Browser of the person at that moment, when it is known',
      }),
    ),
  ),
})

export const consentRoutes =
  (consents: ConsentService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/consent/:user_email', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_consents',
        summary: 'List the consents of a person',
        params: UserParams,
        response: {
          200: Success(Type.Object({ user_email: Type.String(), items: Type.Array(Consent) })),
        },
      },
      handler: async ({ params }) =>
        success('Consent records retrieved', await consents.list(params.user_email)),
    })

    app.post('/consent/:user_email', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'set_consent',
        summary: 'Record that a person granted or revoked consent',
        params: UserParams,
        body: NewConsent,
        response: { 200: Success(Consent) },
      },
      handler: async ({ caller, params, body }) =>
        success('Consent recorded', await consents.set(caller, params.user_email, body)),
    })
  }
