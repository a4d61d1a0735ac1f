import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { Reason } from '../compliance.schemas.ts'
import type { PolicyService } from './policies.service.ts'

const days = (description: string, more: object = {}) =>
  Type.Integer({ minimum: 1, maximum: 36_500, description, ...more })

const RetentionPolicy = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    retention_days: Type.Integer(),
    legal_hold: Type.Boolean({ description: 'Nothing is ever deleted, whatever the days say' }),
    auto_archive: Type.Boolean(),
    archive_after_days: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'RetentionPolicy' },
)

const PolicyQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'Exact' })),
})

const PolicyChange = Body({
  retention_days: days('Mail and its traces are deleted when they are older', { examples: [365] }),
  auto_archive: Type.Optional(
    Type.Boolean({ default: true, description: 'Move old mail from INBOX to Archive' }),
  ),
  archive_after_days: Type.Optional(days('How old that is', { default: 90 })),
  reason: Reason,
})

const PolicyParams = Type.Object({ organization_id: Type.String() })

export const policyRoutes =
  (policies: PolicyService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/retention-policies', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_retention_policies',
        summary: 'How long organizations keep mail, newest first',
        querystring: PolicyQuery,
        response: { 200: Success(Paginated(RetentionPolicy)) },
      },
      handler: async ({ query }) =>
        success(
          'Retention policies retrieved',
          await policies.list(query.organization_id, pageOf(query)),
        ),
    })

    app.put('/retention-policies/:organization_id', {
      config: { auth: operator('admin'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'set_retention_policy',
        summary: 'Say how long an organization keeps mail',
        params: PolicyParams,
        body: PolicyChange,
        response: { 200: Success(RetentionPolicy) },
      },
      handler: async ({ caller, params, body }) =>
        success('Retention policy saved', await policies.set(caller, params.organization_id, body)),
    })
  }
