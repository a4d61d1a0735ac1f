import type { Core } from '../../src/core.ts'
import type { Feature } from '../../src/features/feature.ts'
import { benchDomainRoutes } from './domains.routes.ts'
import { benchDomainService } from './domains.service.ts'

/** One row read and one insert, written like any feature: what they cost, every feature costs. */
export const benchDomains = (core: Core): Feature => ({
  prefix: '/api/v1/bench-domains',
  routes: benchDomainRoutes(benchDomainService(core)),
})
