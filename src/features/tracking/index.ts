import type { Core } from '../../core.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import { publicRoutes } from './recipients/public.routes.ts'
import { publicService } from './recipients/public.service.ts'
import { closeRecorder } from './recipients/recorder.ts'
import { statsService } from './stats/stats.service.ts'
import { suppressionRoutes } from './suppressions/suppressions.routes.ts'
import { suppressionService } from './suppressions/suppressions.service.ts'
import { forgetTracking } from './tracking.jobs.ts'
import { trackingRoutes } from './tracking.routes.ts'

/** The routes for recipients accept bodies of any content type, so they are registered apart. */
export function tracking(
  core: Core,
  { organizations, domains }: { organizations: OrganizationService; domains: DomainService },
): Feature[] {
  const prefix = '/api/v1/tracking'
  const stats = statsService({ ...core, domains })
  const suppressions = suppressionService({ ...core, organizations })
  return [
    {
      prefix,
      routes: trackingRoutes(stats, suppressions),
      capabilities: ['tracking'],
      jobs: [forgetTracking],
      close: () => closeRecorder(core),
    },
    {
      prefix: '/api/v1/suppressions',
      routes: suppressionRoutes(suppressions),
      capabilities: ['suppression_list'],
    },
    { prefix, routes: publicRoutes(publicService(core)) },
  ]
}
