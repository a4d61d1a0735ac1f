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
    ip_address: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
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
  granted: Type.Boolean({ description: 'false withdraws it' }),
})

export const consentRoutes =
  (consents: ConsentService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/consent/:user_email', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_consents',
        summary: 'What a person has agreed to',
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
        summary: 'Record that a person gave or withdrew consent',
        params: UserParams,
        body: NewConsent,
        response: { 200: Success(Consent) },
      },
      handler: async ({ caller, params, body }) =>
        success('Consent recorded', await consents.set(caller, params.user_email, body)),
    })
  }
