import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
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
        summary: 'DLP policies of all organizations, newest first',
        querystring: shapes.PolicyQuery,
        response: { 200: Success(Paginated(shapes.Policy)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'created_at', 'desc')
        const found = await dlp.listPolicies(query, sort, pageOf(query))
        return success('DLP policies retrieved', found)
      },
    })

    app.post('/dlp/policies', {
      config: {
        auth: operator('admin'),
        errors: [OrganizationNotFound, errors.PolicyNameTaken],
      },
      schema: {
        operationId: 'create_dlp_policy',
        summary: 'Create a DLP policy; the next message is checked against it',
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
        errors: [errors.NothingToUpdate, errors.PolicyNotFound, errors.PolicyNameTaken],
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
        summary: 'What was found in mail, newest first; never the text that was found',
        querystring: shapes.ViolationQuery,
        response: { 200: Success(Paginated(shapes.Violation)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'created_at', 'desc')
        const found = await dlp.listViolations(query, sort, pageOf(query))
        return success('DLP violations retrieved', found)
      },
    })

    app.get('/dlp/violations/summary', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'dlp_violations_summary',
        summary: 'Violations counted by severity, policy, action and day',
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
        summary: 'Get a DLP violation, with as little as in the list',
        params: shapes.ViolationParams,
        response: { 200: Success(shapes.Violation) },
      },
      handler: async ({ params }) =>
        success('DLP violation retrieved', await dlp.getViolation(params.violation_id)),
    })
  }
