import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { type AccountLister, domainRoutes } from './domains.routes.ts'
import type { DomainService } from './domains.service.ts'
import { legacyDomainRoutes } from './legacy/legacy.routes.ts'
import { legacyDomainService } from './legacy/legacy.service.ts'

export const domains = (core: Core, service: DomainService, accounts: AccountLister): Feature => ({
  prefix: '/api/v1/domains',
  capabilities: ['domains'],
  routes: async (app) => {
    await app.register(legacyDomainRoutes(legacyDomainService({ ...core, domains: service })))
    await app.register(domainRoutes(service, accounts))
  },
})
