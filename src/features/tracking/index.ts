import type { Core } from '../../core.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import { suppressionService } from '../suppressions/suppressions.service.ts'
import { publicRoutes } from './public.routes.ts'
import { publicService } from './public.service.ts'
import { statsService } from './stats.service.ts'
import { trackingRoutes } from './tracking.routes.ts'

/** Recipients have bodies of any kind, so their routes stand apart. */
export function tracking(
  core: Core,
  organizations: OrganizationService,
  domains: DomainService,
): Feature[] {
  const prefix = '/api/v1/tracking'
  const stats = statsService({ ...core, domains })
  return [
    {
      prefix,
      routes: trackingRoutes(stats, suppressionService({ ...core, organizations })),
      capabilities: ['tracking'],
    },
    { prefix, routes: publicRoutes(publicService(core)) },
  ]
}
