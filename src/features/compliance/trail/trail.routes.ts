import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import type { TrailService } from './trail.service.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const TrailQuery = Type.Object({
  ...PageQuery,
  action: text('Exact'),
  user_email: text('Exact'),
  ip_address: text('Exact'),
  start_date: text('ISO date or datetime, inclusive'),
  end_date: text('ISO date or datetime, inclusive; a date means the end of that day'),
})

const TrailRow = Type.Object(
  {
    id: Type.Integer(),
    action: Type.String({ examples: ['data_export.requested'] }),
    organization_id: Nullable(Type.String({ description: 'The organization that it concerns' })),
    user_email: Nullable(Type.String()),
    performed_by: Nullable(Type.String({ description: 'An operator, or `system`' })),
    ip_address: Nullable(Type.String()),
    details: Type.Object({}, { additionalProperties: true }),
    created_at: Timestamp,
  },
  { title: 'ComplianceAuditRow' },
)

export const trailRoutes =
  (trail: TrailService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/audit-log', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_compliance_audit',
        summary: 'List compliance actions, newest first',
        querystring: TrailQuery,
        response: { 200: Success(Paginated(TrailRow)) },
      },
      handler: async ({ query }) =>
        success('Audit log retrieved', await trail.list(query, pageOf(query))),
    })
  }
