import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { queueRoutes } from './queue.routes.ts'
import { queueService } from './queue.service.ts'

export const queue = (core: Core): Feature => ({
  prefix: '/api/v1/queue',
  routes: queueRoutes(queueService(core)),
  capabilities: ['queue', 'own_queue'],
})
