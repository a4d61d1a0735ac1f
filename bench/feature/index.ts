import type { Core } from '../../src/core.ts'
import type { Feature } from '../../src/features/feature.ts'
import { benchDomainRoutes } from './domains.routes.ts'
import { benchDomainService } from './domains.service.ts'

/**
 * Reads one row and inserts one row, written like every feature, to measure the cost of a feature.
 */
export const benchDomains = (core: Core): Feature => ({
  prefix: '/api/v1/bench-domains',
  routes: benchDomainRoutes(benchDomainService(core)),
})
