import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { reputationRoutes } from './reputation.routes.ts'
import { reputationService } from './reputation.service.ts'

export const reputation = (core: Core): Feature => ({
  prefix: '/api/v1/reputation',
  routes: reputationRoutes(reputationService(core)),
  capabilities: ['reputation'],
})
