import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Nullable, OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { NoPolicyToCancel, PolicyNotFound } from '../compliance.errors.ts'
import { Reason } from '../compliance.schemas.ts'
import type { PolicyService } from './policies.service.ts'

const days = (description: string, more: object = {}) =>
  Type.Integer({ minimum: 1, maximum: 36_500, description, ...more })

const RetentionPolicy = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    retention_days: Type.Integer(),
    legal_hold: Type.Boolean({ description: 'Retention deletes nothing' }),
    auto_archive: Type.Boolean(),
    archive_after_days: Type.Integer(),
    status: OneOf(['scheduled', 'in_force']),
    applies_from: { ...Timestamp, description: 'A stricter policy has a grace period of 7 days' },
    in_force: Nullable(
      Type.Object(
        {
          retention_days: Type.Integer(),
          auto_archive: Type.Boolean(),
          archive_after_days: Type.Integer(),
        },
        { description: 'The policy that applies today; null while no mail is deleted yet' },
      ),
    ),
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
  retention_days: days('Mail and the rows about it are deleted when they are older', {
    examples: [365],
  }),
  auto_archive: Type.Optional(
    Type.Boolean({
      description: 'Move old mail from INBOX to Archive; false for a new policy without it',
    }),
  ),
  archive_after_days: Type.Optional(
    days('Age in days at which mail is archived; 90 for a new policy without it'),
  ),
  reason: Reason,
})

const PreviewQuery = Type.Object({
  retention_days: Type.Optional(days('Unless given, of the stored policy')),
  auto_archive: Type.Optional(Type.Boolean({ description: 'Unless given, of the stored policy' })),
  archive_after_days: Type.Optional(days('Unless given, of the stored policy')),
  after: Type.Optional(
    Type.String({ maxLength: 254, description: '`next_after` of the previous part' }),
  ),
})

const RetentionPreview = Type.Object(
  {
    retention_days: Type.Integer(),
    auto_archive: Type.Boolean(),
    archive_after_days: Type.Integer(),
    on_hold: Type.Boolean({
      description: 'A hold on the whole organization keeps everything',
    }),
    counts: Type.Object(
      { messages_deleted: Type.Integer(), messages_archived: Type.Integer() },
      {
        additionalProperties: Type.Integer(),
        description: 'Messages and rows that a run would delete or move today, by kind',
      },
    ),
    mailboxes_counted: Type.Integer(),
    mailboxes_held: Type.Integer({ description: 'Mailboxes that a legal hold keeps' }),
    next_after: Nullable(
      Type.String({ description: 'Send it as `after` for the next part; null: all are counted' }),
    ),
  },
  { title: 'RetentionPreview' },
)

const PolicyParams = Type.Object({ organization_id: Type.String() })

export const policyRoutes =
  (policies: PolicyService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/retention-policies', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_retention_policies',
        summary: 'List retention policies, newest first',
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
        summary: 'Set the retention policy of an organization; a stricter one applies in 7 days',
        params: PolicyParams,
        body: PolicyChange,
        response: { 200: Success(RetentionPolicy) },
      },
      handler: async ({ caller, params, body }) =>
        success('Retention policy saved', await policies.set(caller, params.organization_id, body)),
    })

    app.get('/retention-policies/:organization_id/preview', {
      config: { auth: operator('admin'), errors: [PolicyNotFound] },
      schema: {
        operationId: 'preview_retention_policy',
        summary: 'Count what a retention policy would delete and move today',
        params: PolicyParams,
        querystring: PreviewQuery,
        response: { 200: Success(RetentionPreview) },
      },
      handler: async ({ params, query: { after = '', ...policy } }) =>
        success(
          'Retention policy previewed',
          await policies.preview(params.organization_id, policy, after),
        ),
    })

    app.post('/retention-policies/:organization_id/cancel', {
      config: {
        auth: operator('admin'),
        errors: [OrganizationNotFound, PolicyNotFound, NoPolicyToCancel],
      },
      schema: {
        operationId: 'cancel_retention_policy',
        summary: 'Cancel a retention policy in its grace period; the previous one stays in force',
        params: PolicyParams,
        body: Body({ reason: Reason }),
        response: { 200: Success(Nullable(RetentionPolicy)) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Retention policy cancelled',
          await policies.cancel(caller, params.organization_id, body.reason),
        ),
    })

    app.delete('/retention-policies/:organization_id', {
      config: { auth: operator('admin'), errors: [OrganizationNotFound, PolicyNotFound] },
      schema: {
        operationId: 'delete_retention_policy',
        summary: 'Delete the retention policy of an organization; all mail is kept from now on',
        params: PolicyParams,
        querystring: Type.Object({ reason: Reason }),
        response: { 200: Success(RetentionPolicy) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Retention policy deleted',
          await policies.remove(caller, params.organization_id, query.reason),
        ),
    })
  }
