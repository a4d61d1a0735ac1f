import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { activityRoutes } from './activity.routes.ts'
import { activityService } from './activity.service.ts'

export const activity = (core: Core): Feature => ({
  prefix: '/api/v1/activity',
  routes: activityRoutes(activityService(core)),
  capabilities: ['activity'],
})
