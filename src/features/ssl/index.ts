import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { challengeRoutes } from './acme/challenges.routes.ts'
import { challengeService } from './acme/challenges.service.ts'
import { inventory } from './inventory/inventory.ts'
import { sslRoutes } from './ssl.routes.ts'
import { sslService } from './ssl.service.ts'

export const ssl = (core: Core): Feature[] => [
  {
    prefix: '/api/v1/ssl',
    capabilities: ['ssl'],
    routes: sslRoutes(sslService({ ...core, inventory: inventory(core) })),
  },
  // RFC 8555 §8.3 fixes this path.
  {
    prefix: '/.well-known/acme-challenge',
    routes: challengeRoutes(challengeService(core)),
  },
]
