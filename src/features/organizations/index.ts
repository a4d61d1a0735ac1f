import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { type DomainLister, organizationRoutes } from './organizations.routes.ts'
import type { OrganizationService } from './organizations.service.ts'
import { overviewRoutes } from './overview/overview.routes.ts'
import { overviewService } from './overview/overview.service.ts'

export const organizations = (
  core: Core,
  {
    organizations: service,
    domainLister,
  }: { organizations: OrganizationService; domainLister: DomainLister },
): Feature => ({
  prefix: '/api/v1/organizations',
  capabilities: ['organizations', 'organization_overview'],
  routes: async (app) => {
    await app.register(organizationRoutes(service, domainLister))
    await app.register(overviewRoutes(overviewService({ ...core, organizations: service })))
  },
})
