import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { healthRoutes } from './health.routes.ts'
import { healthService } from './health.service.ts'

export const health = (core: Core): Feature => ({
  prefix: '',
  routes: healthRoutes(healthService(core)),
  capabilities: ['health'],
})
