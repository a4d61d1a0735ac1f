import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AlreadyBootstrapped, InvalidBootstrapToken } from '../../access/bootstrap-tokens.ts'
import { bootstrapToken, none } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { Success, success } from '../../http/envelope.ts'
import type { Feature } from '../feature.ts'
import { BootstrapBody, Bootstrapped, BootstrapState } from './bootstrap.schemas.ts'
import { type BootstrapService, bootstrapService } from './bootstrap.service.ts'

export const bootstrap = (core: Core): Feature => ({
  prefix: '/api/v1/bootstrap',
  routes: routes(bootstrapService(core)),
})

const routes =
  (bootstrapping: BootstrapService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: none() },
      schema: {
        operationId: 'get_bootstrap_state',
        summary: 'Get what the first run still has to create',
        response: { 200: Success(BootstrapState) },
      },
      handler: async () => success('Bootstrap state', await bootstrapping.state()),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: bootstrapToken('organization'),
        errors: [AlreadyBootstrapped, InvalidBootstrapToken],
      },
      schema: {
        operationId: 'bootstrap',
        summary: 'Create the first organization, domain, mailbox, dashboard user and API key',
        body: BootstrapBody,
        response: { 200: Success(Bootstrapped) },
      },
      handler: async (request) =>
        success('Bootstrap complete', await bootstrapping.create(request.caller, request.body)),
    })
  }
