import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './transport-rules.errors.ts'
import * as shapes from './transport-rules.schemas.ts'
import type { TransportRuleService } from './transport-rules.service.ts'
import type { TrialService } from './trial.service.ts'

const ofPlatform = [errors.OrganizationRequired, OrganizationNotFound]

export const transportRuleRoutes =
  (rules: TransportRuleService, trials: TrialService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_transport_rules',
        summary: 'Transport rules, in the order in which mail passes them',
        querystring: shapes.RuleQuery,
        response: { 200: Success(Paginated(shapes.TransportRule)) },
      },
      handler: async ({ caller, query }) =>
        success('Transport rules retrieved', await rules.list(caller, query, pageOf(query))),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('write'), errors: [...ofPlatform, errors.TooManyRules] },
      schema: {
        operationId: 'create_transport_rule',
        summary: 'Create a transport rule; the next message passes it',
        body: shapes.RuleBody,
        response: { 201: Success(shapes.TransportRule) },
      },
      handler: async ({ caller, body }, reply) => {
        const rule = await rules.create(caller, body)
        return reply.code(201).send(success('Transport rule created', rule))
      },
    })

    app.post('/test', {
      config: { auth: key('read'), errors: ofPlatform },
      schema: {
        operationId: 'test_transport_rules',
        summary: 'Which rules would match a message, and what would become of it',
        body: shapes.TrialBody,
        response: { 200: Success(shapes.Trial) },
      },
      handler: async ({ caller, body }) =>
        success('Transport rules tested', await trials.run(caller, body)),
    })

    // Before the rule of that name that there cannot be.
    app.put('/reorder', {
      config: { auth: key('write'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'reorder_transport_rules',
        summary: 'Give rules the order of this list: 10, 20, 30 …',
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
      config: { auth: key('write'), errors: [errors.TransportRuleNotFound] },
      schema: {
        operationId: 'replace_transport_rule',
        summary: 'Replace a transport rule; its count stays',
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
        summary: 'Switch a transport rule on or off',
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
