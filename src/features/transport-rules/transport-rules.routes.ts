import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './transport-rules.errors.ts'
import * as shapes from './transport-rules.schemas.ts'
import type { TransportRuleService } from './transport-rules.service.ts'
import type { TrialService } from './trial.service.ts'

const platformErrors = [errors.OrganizationRequired, OrganizationNotFound]

export const transportRuleRoutes =
  (rules: TransportRuleService, trials: TrialService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_transport_rules',
        summary: 'List transport rules in the order of application',
        querystring: shapes.RuleQuery,
        response: { 200: Success(Paginated(shapes.TransportRule)) },
      },
      handler: async ({ caller, query }) =>
        success('Transport rules retrieved', await rules.list(caller, query, pageOf(query))),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('write'),
        errors: [...platformErrors, errors.TooManyRules, errors.RulesTooLarge, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'create_transport_rule',
        summary: 'Create a transport rule, which applies from the next message',
        body: shapes.RuleBody,
        response: { 201: Success(shapes.TransportRule) },
      },
      handler: async ({ caller, body }, reply) => {
        const rule = await rules.create(caller, body)
        return reply.code(201).send(success('Transport rule created', rule))
      },
    })

    app.post('/test', {
      config: { auth: key('read'), errors: [...platformErrors, ...WORK_ERRORS] },
      schema: {
        operationId: 'test_transport_rules',
        summary: 'Test which rules match a message and show the result without sending it',
        body: shapes.TrialBody,
        response: { 200: Success(shapes.Trial) },
      },
      handler: async ({ caller, body }) =>
        success('Transport rules tested', await trials.run(caller, body)),
    })

    app.put('/reorder', {
      config: { auth: key('write'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'reorder_transport_rules',
        summary: 'Set the priorities of rules to 10, 20, 30 … in the order of this list',
        body: shapes.ReorderBody,
        response: { 200: Success(shapes.Reordered) },
      },
      handler: async ({ caller, body }) =>
        success('Rules reordered', await rules.reorder(caller, body.rule_ids)),
    })

    app.get('/:rule_id', {
      config: { auth: key('read'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'get_transport_rule',
        summary: 'Get a transport rule',
        params: shapes.RuleParams,
        response: { 200: Success(shapes.TransportRule) },
      },
      handler: async ({ caller, params }) =>
        success('Transport rule retrieved', await rules.get(caller, params.rule_id)),
    })

    app.put('/:rule_id', {
      config: {
        auth: key('write'),
        errors: [errors.TransportRuleNotFound, errors.RulesTooLarge, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'replace_transport_rule',
        summary: 'Replace a transport rule; its hit count stays',
        params: shapes.RuleParams,
        body: shapes.RuleBody,
        response: { 200: Success(shapes.TransportRule) },
      },
      handler: async ({ caller, params, body }) =>
        success('Transport rule updated', await rules.replace(caller, params.rule_id, body)),
    })

    app.put('/:rule_id/enable', {
      config: { auth: key('write'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'enable_transport_rule',
        summary: 'Enable or disable a transport rule',
        params: shapes.RuleParams,
        querystring: shapes.EnableQuery,
        response: { 200: Success(shapes.RuleSwitched) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          `Transport rule ${query.enabled ? 'enabled' : 'disabled'}`,
          await rules.enable(caller, params.rule_id, query.enabled),
        ),
    })

    app.delete('/:rule_id', {
      config: { auth: key('write'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'delete_transport_rule',
        summary: 'Delete a transport rule',
        params: shapes.RuleParams,
        response: { 200: Success(shapes.RuleDeleted) },
      },
      handler: async ({ caller, params }) =>
        success('Transport rule deleted', await rules.remove(caller, params.rule_id)),
    })
  }
