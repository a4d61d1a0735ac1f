import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { sortOf } from '../../../http/sorting.ts'
import { NoUpdatableFields, OrganizationNotFound } from '../security.errors.ts'
import { Reason } from '../security.schemas.ts'
import { IpRuleExists, IpRuleNotFound } from './ip-rules.errors.ts'
import {
  DeletedIpRule,
  IpRule,
  IpRuleChange,
  IpRuleParams,
  IpRuleQuery,
  NewIpRule,
} from './ip-rules.schemas.ts'
import type { IpRuleService } from './ip-rules.service.ts'

export const ipRuleRoutes =
  (rules: IpRuleService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_ip_rules',
        summary: 'List IP access rules, newest first',
        querystring: IpRuleQuery,
        response: { 200: Success(Paginated(IpRule)) },
      },
      handler: async ({ query: { page, per_page, sort_by, sort_dir, ...filter } }) => {
        const sort = sortOf({ sort_by, sort_dir }, 'created_at', 'desc')
        const result = await rules.list(filter, sort, pageOf({ page, per_page }))
        return success('IP access rules retrieved', result)
      },
    })

    app.post('', {
      config: { auth: operator('operator'), errors: [OrganizationNotFound, IpRuleExists] },
      schema: {
        operationId: 'create_ip_rule',
        summary: 'Create an IP access rule, which applies from the next connection',
        body: NewIpRule,
        response: { 201: Success(IpRule) },
      },
      handler: async ({ caller, body: { reason: _, ...rule } }, reply) => {
        const created = await rules.create(caller, rule)
        return reply.code(201).send(success('IP access rule created', created))
      },
    })

    app.put('/:rule_id', {
      config: {
        auth: operator('operator'),
        errors: [IpRuleNotFound, NoUpdatableFields, IpRuleExists],
      },
      schema: {
        operationId: 'update_ip_rule',
        summary: 'Change description, type or active status of an IP access rule',
        params: IpRuleParams,
        body: IpRuleChange,
        response: { 200: Success(IpRule) },
      },
      handler: async ({ caller, params, body: { reason: _, ...fields } }) =>
        success('IP access rule updated', await rules.update(caller, params.rule_id, fields)),
    })

    app.delete('/:rule_id', {
      config: { auth: operator('operator'), errors: [IpRuleNotFound] },
      schema: {
        operationId: 'delete_ip_rule',
        summary: 'Delete an IP access rule',
        params: IpRuleParams,
        body: Reason,
        response: { 200: Success(DeletedIpRule) },
      },
      handler: async ({ caller, params }) =>
        success('IP access rule deleted', await rules.delete(caller, params.rule_id)),
    })
  }
