import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { closeCounting, countingOf } from './counters/counting.ts'
import { rateLimiterRoutes } from './rate-limiter.routes.ts'
import { rateLimiterService } from './rate-limiter.service.ts'

export const rateLimiter = (core: Core): Feature => ({
  prefix: '/api/v1/rate-limiter',
  capabilities: ['rate_limits'],
  close: () => closeCounting(core),
  routes: rateLimiterRoutes(rateLimiterService({ ...core, counting: () => countingOf(core) })),
})
