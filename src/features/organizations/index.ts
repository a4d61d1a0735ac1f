import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import { organizationRoutes } from './organizations.routes.ts'
import type { OrganizationService } from './organizations.service.ts'

export const organizations = (
  service: OrganizationService,
  domains: Pick<DomainService, 'listOfOrganization'>,
): Feature => ({
  prefix: '/api/v1/organizations',
  routes: organizationRoutes(service, domains),
  capabilities: ['organizations'],
})
