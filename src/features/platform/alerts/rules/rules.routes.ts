import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../../access/labels.ts'
import { Success, success } from '../../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../../http/paging.ts'
import { NoUpdatableFields } from '../../operators/operators.errors.ts'
import { Reason } from '../../sessions/sessions.schemas.ts'
import { AlertRuleNotFound } from '../alerts.errors.ts'
import * as shapes from '../alerts.schemas.ts'
import type { RuleService } from './rules.service.ts'

export const ruleRoutes =
  (rules: RuleService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_alert_rules',
        summary: 'List alert rules, newest first',
        querystring: shapes.RuleQuery,
        response: { 200: Success(Paginated(shapes.AlertRule)) },
      },
      handler: async ({ query }) => {
        const { sort = 'created_at', direction = 'desc' } = query
        const listed = await rules.list(query, { sort, direction }, pageOf(query))
        return success('Alert rules retrieved', listed)
      },
    })

    app.get('/:rule_id', {
      config: { auth: operator('support'), errors: [AlertRuleNotFound] },
      schema: {
        operationId: 'get_alert_rule',
        summary: 'Get an alert rule',
        params: shapes.RuleParams,
        response: { 200: Success(shapes.AlertRule) },
      },
      handler: async ({ params }) =>
        success('Alert rule retrieved', await rules.get(params.rule_id)),
    })

    app.post('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'create_alert_rule',
        summary: 'Create an alert rule',
        body: shapes.NewRule,
        response: { 201: Success(shapes.AlertRule) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await rules.create(caller, body)
        return reply.code(201).send(success('Alert rule created', created))
      },
    })

    app.post('/defaults', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'add_default_alert_rules',
        summary:
          'Add the default rules (disk, backups, deferred mail, block lists) that are missing',
        body: shapes.DefaultRules,
        response: { 200: Success(shapes.AddedRules) },
      },
      handler: async ({ caller, body }) =>
        success(
          'Default alert rules added',
          await rules.addDefaults(caller, body.channel_ids ?? []),
        ),
    })

    app.put('/:rule_id', {
      config: { auth: operator('operator'), errors: [AlertRuleNotFound, NoUpdatableFields] },
      schema: {
        operationId: 'update_alert_rule',
        summary: 'Change the sent fields of an alert rule; null clears an optional field',
        params: shapes.RuleParams,
        body: shapes.RuleChange,
        response: { 200: Success(shapes.AlertRule) },
      },
      handler: async ({ caller, params, body }) =>
        success('Alert rule updated', await rules.update(caller, params.rule_id, body)),
    })

    app.delete('/:rule_id', {
      config: { auth: operator('operator'), errors: [AlertRuleNotFound] },
      schema: {
        operationId: 'delete_alert_rule',
        summary: 'Delete an alert rule; its history stays',
        params: shapes.RuleParams,
        body: Reason,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, params }) =>
        success('Alert rule deleted', await rules.delete(caller, params.rule_id)),
    })

    app.post('/:rule_id/evaluate', {
      config: { auth: operator('operator'), errors: [AlertRuleNotFound] },
      schema: {
        operationId: 'evaluate_alert_rule',
        summary: 'Dry run of a rule on live data; sends and records nothing',
        params: shapes.RuleParams,
        response: { 200: Success(shapes.Evaluation) },
      },
      handler: async ({ params }) =>
        success('Alert rule evaluated', await rules.evaluate(params.rule_id)),
    })
  }
