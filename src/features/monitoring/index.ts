import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { monitoringRoutes } from './monitoring.routes.ts'
import { monitoringService } from './monitoring.service.ts'
import type { Restarts } from './restarts/restarts.ts'

export const monitoring = (core: Core, { restarts }: { restarts: Restarts }): Feature => ({
  prefix: '/api/v1/monitoring',
  routes: monitoringRoutes(monitoringService(core, restarts)),
  capabilities: ['monitoring'],
})
