import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { DomainNotFound, InvalidFormat } from '../domains.errors.ts'
import { DomainNameParams } from '../domains.schemas.ts'
import * as shapes from './legacy.schemas.ts'
import type { LegacyDomainService } from './legacy.service.ts'

export const legacyDomainRoutes =
  (legacy: LegacyDomainService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/edit', {
      config: { auth: key('write'), validation: 'handler', errors: [InvalidFormat] },
      schema: {
        operationId: 'edit_domains',
        summary: 'Change several domains by name (older route)',
        body: shapes.EditBody,
        response: { 200: Success(shapes.Edited) },
      },
      handler: async ({ caller, body }) =>
        success('Domain update completed', await legacy.edit(caller, body)),
    })

    app.post('/delete/domain', {
      config: { auth: key('write'), validation: 'handler', errors: [InvalidFormat] },
      schema: {
        operationId: 'delete_domains',
        summary: 'Delete domains by name, with everything in them (older route)',
        body: shapes.DeleteBody,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, body }) =>
        success('Domain deletion completed', await legacy.remove(caller, body)),
    })

    app.get('/get/domain/policy/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_domain_policy',
        summary: 'Spam policy of a domain',
        params: DomainNameParams,
        response: { 200: Success(shapes.Policy) },
      },
      handler: async ({ caller, params }) =>
        success('Domain policy retrieved successfully', await legacy.policy(caller, params.domain)),
    })

    app.post('/edit/domain/policy', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [DomainNotFound, InvalidFormat],
      },
      schema: {
        operationId: 'edit_domain_policy',
        summary: 'Set the spam policy of a domain',
        body: shapes.PolicyBody,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) =>
        done(`Domain policy updated for ${await legacy.setPolicy(caller, body)}`),
    })

    app.get('/stats/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_domain_stats',
        summary: 'Get the mailbox and alias counts of a domain',
        params: DomainNameParams,
        response: { 200: Success(shapes.Stats) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Domain statistics retrieved successfully',
          await legacy.stats(caller, params.domain),
        ),
    })
  }
