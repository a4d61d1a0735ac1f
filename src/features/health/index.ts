import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { healthRoutes } from './health.routes.ts'
import { healthService } from './health.service.ts'

/** Runs in every process, under the name of its first service. */
export const health = (core: Core, service: string): Feature => ({
  prefix: '',
  routes: healthRoutes(healthService(core), service),
  capabilities: ['health'],
})
