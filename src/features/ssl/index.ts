import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { challengeRoutes } from './acme/challenges.routes.ts'
import { challengeService } from './acme/challenges.service.ts'
import { inventory } from './inventory/inventory.ts'
import { sslRoutes } from './ssl.routes.ts'
import { sslService } from './ssl.service.ts'

/** Where a CA looks; in front of the API, because the path is not ours to choose. */
export const acmeChallenges = (core: Core): Feature => ({
  prefix: '/.well-known/acme-challenge',
  routes: challengeRoutes(challengeService(core)),
})

export const ssl = (core: Core): Feature => ({
  prefix: '/api/v1/ssl',
  capabilities: ['ssl'],
  routes: sslRoutes(sslService({ ...core, inventory: inventory(core) })),
})
