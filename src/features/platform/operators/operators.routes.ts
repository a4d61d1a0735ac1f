import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OperatorSessions } from '../sessions/sessions.schemas.ts'
import type { OperatorSessionService } from '../sessions/sessions.service.ts'
import {
  NoUpdatableFields,
  OperatorDeactivated,
  OperatorEmailTaken,
  OperatorNotFound,
  OwnMfaReset,
  OwnPasswordReset,
  OwnRoleOrStatus,
} from './operators.errors.ts'
import {
  MfaReset,
  NewOperator,
  Operator,
  OperatorChange,
  OperatorLink,
  OperatorParams,
  OperatorQuery,
  ReasonBody,
  SessionsRevoked,
} from './operators.schemas.ts'
import type { OperatorService } from './operators.service.ts'

export const operatorRoutes =
  (operators: OperatorService, sessions: OperatorSessionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('owner') },
      schema: {
        operationId: 'list_operators',
        summary: 'List operators, newest first',
        querystring: OperatorQuery,
        response: { 200: Success(Paginated(Operator)) },
      },
      handler: async ({ query }) =>
        success('Operators retrieved', await operators.list(query, pageOf(query))),
    })

    app.post('', {
      config: { auth: operator('owner'), errors: [OperatorEmailTaken] },
      schema: {
        operationId: 'create_operator',
        summary: 'Create an operator',
        body: NewOperator,
        response: { 201: Success(Operator) },
      },
      handler: async (request, reply) => {
        const created = await operators.create(request.caller, request.body)
        return reply.code(201).send(success('Operator created', created))
      },
    })

    app.get('/:operator_id', {
      config: { auth: operator('owner'), errors: [OperatorNotFound] },
      schema: {
        operationId: 'get_operator',
        summary: 'Get an operator',
        params: OperatorParams,
        response: { 200: Success(Operator) },
      },
      handler: async ({ params }) =>
        success('Operator retrieved', await operators.get(params.operator_id)),
    })

    app.put('/:operator_id', {
      config: {
        auth: operator('owner'),
        errors: [OperatorNotFound, OperatorEmailTaken, NoUpdatableFields, OwnRoleOrStatus],
      },
      schema: {
        operationId: 'update_operator',
        summary: 'Change name, role or active status of an operator',
        params: OperatorParams,
        body: OperatorChange,
        response: { 200: Success(Operator) },
      },
      handler: async ({ caller, params, body }) =>
        success('Operator updated', await operators.update(caller, params.operator_id, body)),
    })

    app.post('/:operator_id/mfa-reset', {
      config: { auth: operator('owner'), errors: [OperatorNotFound, OwnMfaReset] },
      schema: {
        operationId: 'reset_operator_mfa',
        summary: 'Clear the second factor of an operator and end their sessions',
        params: OperatorParams,
        body: ReasonBody,
        response: { 200: Success(MfaReset) },
      },
      handler: async ({ caller, params }) =>
        success(
          'MFA reset; the operator enrolls again at the next login',
          await operators.resetMfa(caller, params.operator_id),
        ),
    })

    app.post('/:operator_id/password-reset', {
      config: {
        auth: operator('owner'),
        errors: [OperatorNotFound, OwnPasswordReset, OperatorDeactivated],
      },
      schema: {
        operationId: 'reset_operator_password',
        summary: 'Create and mail a link to set a new password for an operator',
        params: OperatorParams,
        body: ReasonBody,
        response: { 200: Success(OperatorLink) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Password reset created; the old password works until the link is used',
          await operators.resetPassword(caller, params.operator_id),
        ),
    })

    app.get('/:operator_id/sessions', {
      config: { auth: operator('owner'), errors: [OperatorNotFound] },
      schema: {
        operationId: 'list_operator_sessions',
        summary: 'List all sessions of an operator, live or ended, newest first',
        params: OperatorParams,
        response: { 200: Success(OperatorSessions) },
      },
      handler: async ({ params }) =>
        success('Operator sessions retrieved', await sessions.listOf(params.operator_id)),
    })

    app.post('/:operator_id/sessions/revoke', {
      config: { auth: operator('owner'), errors: [OperatorNotFound] },
      schema: {
        operationId: 'revoke_operator_sessions',
        summary: 'End every session of an operator',
        params: OperatorParams,
        body: ReasonBody,
        response: { 200: Success(SessionsRevoked) },
      },
      handler: async ({ caller, params }) =>
        success('Sessions revoked', await operators.revokeSessions(caller, params.operator_id)),
    })
  }
