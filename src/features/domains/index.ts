import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { dkimRoutes } from './dkim/dkim.routes.ts'
import { dkimService } from './dkim/dkim.service.ts'
import { type AccountLister, domainRoutes } from './domains.routes.ts'
import type { DomainService } from './domains.service.ts'
import { legacyDomainRoutes } from './legacy/legacy.routes.ts'
import { legacyDomainService } from './legacy/legacy.service.ts'
import { verifyDnsRoutes } from './verify-dns/verify-dns.routes.ts'
import { verifyDnsService } from './verify-dns/verify-dns.service.ts'

export const domains = (core: Core, service: DomainService, accounts: AccountLister): Feature => ({
  prefix: '/api/v1/domains',
  capabilities: ['domains', 'dkim', 'dkim_rotation'],
  routes: async (app) => {
    await app.register(legacyDomainRoutes(legacyDomainService({ ...core, domains: service })))
    await app.register(verifyDnsRoutes(verifyDnsService(core)))
    await app.register(dkimRoutes(dkimService(core)))
    await app.register(domainRoutes(service, accounts))
  },
})
