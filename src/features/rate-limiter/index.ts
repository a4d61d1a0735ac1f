import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { countingOf } from './counting.ts'
import { rateLimiterRoutes } from './rate-limiter.routes.ts'
import { rateLimiterService } from './rate-limiter.service.ts'

export const rateLimiter = (core: Core): Feature => ({
  prefix: '/api/v1/rate-limiter',
  capabilities: ['rate_limits'],
  routes: rateLimiterRoutes(rateLimiterService({ ...core, counting: () => countingOf(core) })),
})
