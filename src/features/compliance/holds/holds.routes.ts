import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { HoldNotFound, HoldReleased } from '../compliance.errors.ts'
import { Reason, UserParams } from '../compliance.schemas.ts'
import type { HoldService } from './holds.service.ts'

const LegalHold = Type.Object(
  {
    id: Type.Integer(),
    organization_id: Type.String(),
    name: Type.String({ examples: ['Case 12/2026'] }),
    description: Nullable(Type.String()),
    custodians: Type.Array(Type.String(), {
      description: 'E-mail addresses; none means every address of the organization',
    }),
    start_date: Timestamp,
    end_date: Nullable(Timestamp),
    active: Type.Boolean(),
    created_by: Type.String(),
    enforced_at: Nullable({
      ...Timestamp,
      description:
        'Since when the mail servers follow the last change of the hold; null: they do not yet',
    }),
    created_at: Timestamp,
  },
  { title: 'LegalHold' },
)

const HoldQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'Exact' })),
  active: Type.Optional(Type.Boolean()),
  q: Type.Optional(Type.String({ description: 'Part of name or description' })),
})

const NewHold = Body({
  organization_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 20_000 }))),
  custodians: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 10_000,
      description: 'E-mail addresses; none means every address of the organization',
      examples: [['ada@acme.example']],
    }),
  ),
  end_date: Type.Optional(
    Nullable(Type.String({ description: 'ISO date or datetime; absent or null: no end' })),
  ),
  reason: Reason,
})

const HoldCheck = Type.Object({
  user_email: Type.String(),
  on_hold: Type.Boolean(),
  holds: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      organization_id: Type.String(),
      end_date: Nullable(Timestamp),
    }),
  ),
})

// Larger numbers lose precision in JavaScript.
const HoldParams = Type.Object({
  hold_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
})

export const holdRoutes =
  (holds: HoldService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/legal-holds', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_legal_holds',
        summary: 'List legal holds, newest first',
        querystring: HoldQuery,
        response: { 200: Success(Paginated(LegalHold)) },
      },
      handler: async ({ query }) =>
        success('Legal holds retrieved', await holds.list(query, pageOf(query))),
    })

    app.get('/legal-holds/check/:user_email', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'check_legal_hold',
        summary: 'Check whether a legal hold covers an e-mail address',
        params: UserParams,
        response: { 200: Success(HoldCheck) },
      },
      handler: async ({ params }) =>
        success('Legal hold checked', await holds.check(params.user_email)),
    })

    app.post('/legal-holds', {
      config: { auth: operator('owner'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'create_legal_hold',
        summary: 'Place a legal hold, which keeps mail and blocks erasure, deletion and retention',
        body: NewHold,
        response: { 201: Success(LegalHold) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(success('Legal hold created', await holds.place(caller, body))),
    })

    app.post('/legal-holds/:hold_id/release', {
      config: { auth: operator('owner'), errors: [HoldNotFound, HoldReleased] },
      schema: {
        operationId: 'release_legal_hold',
        summary: 'Release a legal hold; its record remains',
        params: HoldParams,
        body: Body({ reason: Reason }),
        response: { 200: Success(LegalHold) },
      },
      handler: async ({ caller, params, body }) =>
        success('Legal hold released', await holds.release(caller, params.hold_id, body.reason)),
    })
  }
