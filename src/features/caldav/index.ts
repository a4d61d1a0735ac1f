import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { forgetOldDeletions, releaseKeptObjects } from './caldav.jobs.ts'
import { managementRoutes } from './management/management.routes.ts'
import { managementService } from './management/management.service.ts'

/** The management of calendars and contacts; the daemon `caldav` serves them to programs. */
export const calendars = (core: Core): Feature => ({
  prefix: '/api/v1/caldav',
  routes: managementRoutes(managementService(core)),
  capabilities: ['calendars'],
  jobs: [forgetOldDeletions, releaseKeptObjects],
})
