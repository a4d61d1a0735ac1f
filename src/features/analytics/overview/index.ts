import type { Core } from '../../../core.ts'
import type { Feature } from '../../feature.ts'
import { overviewRoutes } from './overview.routes.ts'
import { overviewService } from './overview.service.ts'

/** Figures of all domains that the caller may see. */
export const statistics = (core: Core): Feature => ({
  prefix: '/api/stats',
  routes: overviewRoutes(overviewService(core)),
})
