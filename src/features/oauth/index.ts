import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { oauthClientRoutes } from './clients/clients.routes.ts'
import { oauthClientService } from './clients/clients.service.ts'
import { grantRoutes } from './grants/grants.routes.ts'
import { grantService } from './grants/grants.service.ts'
import { deleteExpiredItems, rotateSigningKeys } from './oauth.jobs.ts'

/** Managing OAuth clients and grants; the service `oauth` speaks the protocol. */
export const oauth = (core: Core): Feature => ({
  prefix: '/api/v1/oauth',
  routes: async (app) => {
    await app.register(oauthClientRoutes(oauthClientService(core)))
    await app.register(grantRoutes(grantService(core)))
  },
  capabilities: ['oauth'],
  jobs: [deleteExpiredItems, rotateSigningKeys],
})
