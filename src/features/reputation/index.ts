import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { pacingRoutes } from './optimizer/pacing.routes.ts'
import { pacingService } from './optimizer/pacing.service.ts'
import { warmingService } from './optimizer/warming.service.ts'
import { reputationRoutes } from './reputation.routes.ts'
import { reputationService } from './reputation.service.ts'

const PREFIX = '/api/v1/reputation'

export const reputation = (core: Core): Feature[] => [
  {
    prefix: PREFIX,
    routes: reputationRoutes(reputationService(core)),
    capabilities: ['reputation'],
  },
  {
    prefix: PREFIX,
    routes: pacingRoutes({ pacing: pacingService(core), warming: warmingService(core) }),
    capabilities: ['delivery_pacing'],
  },
]
