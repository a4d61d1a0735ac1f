import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { sortOf } from '../../../http/sorting.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from './dlp.errors.ts'
import * as shapes from './dlp.schemas.ts'
import type { DlpService } from './dlp.service.ts'

export const dlpRoutes =
  (dlp: DlpService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/dlp/policies', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_dlp_policies',
        summary: 'List DLP policies of all organizations, newest first',
        querystring: shapes.PolicyQuery,
        response: { 200: Success(Paginated(shapes.Policy)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'created_at', 'desc')
        const result = await dlp.listPolicies(query, sort, pageOf(query))
        return success('DLP policies retrieved', result)
      },
    })

    app.post('/dlp/policies', {
      config: {
        auth: operator('admin'),
        errors: [OrganizationNotFound, errors.PolicyNameTaken, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'create_dlp_policy',
        summary: 'Create a DLP policy, which applies from the next message',
        body: shapes.NewPolicy,
        response: { 201: Success(shapes.Policy) },
      },
      handler: async ({ caller, body }, reply) => {
        const policy = await dlp.createPolicy(caller, body)
        return reply.code(201).send(success('DLP policy created', policy))
      },
    })

    app.put('/dlp/policies/:policy_id', {
      config: {
        auth: operator('admin'),
        errors: [
          errors.NothingToUpdate,
          errors.PolicyNotFound,
          errors.PolicyNameTaken,
          ...WORK_ERRORS,
        ],
      },
      schema: {
        operationId: 'update_dlp_policy',
        summary: 'Change a DLP policy; patterns are replaced as a whole',
        params: shapes.PolicyParams,
        body: shapes.PolicyChange,
        response: { 200: Success(shapes.Policy) },
      },
      handler: async ({ caller, params, body }) =>
        success('DLP policy updated', await dlp.updatePolicy(caller, params.policy_id, body)),
    })

    app.delete('/dlp/policies/:policy_id', {
      config: { auth: operator('admin'), errors: [errors.PolicyNotFound] },
      schema: {
        operationId: 'delete_dlp_policy',
        summary: 'Delete a DLP policy; its violations stay',
        params: shapes.PolicyParams,
        body: shapes.Reason,
        response: { 200: Success(shapes.PolicyDeleted) },
      },
      handler: async ({ caller, params }) =>
        success('DLP policy deleted', await dlp.deletePolicy(caller, params.policy_id)),
    })

    app.get('/dlp/violations', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_dlp_violations',
        summary: 'List DLP violations, newest first, without the matched text',
        querystring: shapes.ViolationQuery,
        response: { 200: Success(Paginated(shapes.Violation)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'created_at', 'desc')
        const result = await dlp.listViolations(query, sort, pageOf(query))
        return success('DLP violations retrieved', result)
      },
    })

    app.get('/dlp/violations/summary', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'dlp_violations_summary',
        summary: 'Count DLP violations by severity, policy, action and day',
        querystring: shapes.SummaryQuery,
        response: { 200: Success(shapes.Summary) },
      },
      handler: async ({ query }) =>
        success(
          'DLP violation summary retrieved',
          await dlp.summary(query.organization_id, query.days),
        ),
    })

    app.get('/dlp/violations/:violation_id', {
      config: { auth: operator('operator'), errors: [errors.ViolationNotFound] },
      schema: {
        operationId: 'get_dlp_violation',
        summary: 'Get a DLP violation without the matched text',
        params: shapes.ViolationParams,
        response: { 200: Success(shapes.Violation) },
      },
      handler: async ({ params }) =>
        success('DLP violation retrieved', await dlp.getViolation(params.violation_id)),
    })
  }
