import type { FastifyRequest } from 'fastify'
import { Registry } from 'prom-client'
import type { Core } from '../core.ts'
import { ApiError } from '../errors.ts'
import type { Feature } from '../features/feature.ts'
import { currentProvider } from '../features/oauth/provider/current-provider.ts'
import { interactionRoutes } from '../features/oauth/provider/interaction.routes.ts'
import { interactionService } from '../features/oauth/provider/interaction.service.ts'
import { issuerOf } from '../features/oauth/provider/issuer.ts'
import { protocolRoutes } from '../features/oauth/provider/protocol.routes.ts'
import { requestBudget } from '../features/oauth/provider/request-budget.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** The authorization server: sign-in, consent, tokens. */
export const oauth: Daemon = {
  async start(core) {
    const counts: Record<string, number> = {}
    const features = oauthFeatures(core, (kind) => {
      counts[kind] = (counts[kind] ?? 0) + 1
    })
    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'oauth_events_total',
        help: 'Tokens issued, refused and revoked by this process',
        label: 'event',
      },
      () => ({ ...counts }),
    )
    return { features, metrics: () => registry.metrics(), async stop() {} }
  },
}

export function oauthFeatures(core: Core, count: (event: string) => void): Feature[] {
  const current = currentProvider(core, (provider) => {
    provider.on('grant.success', () => count('granted'))
    provider.on('grant.error', () => count('refused'))
    provider.on('grant.revoked', () => count('grant_revoked'))
    provider.on('access_token.destroyed', () => count('token_revoked'))
  })
  const budget = requestBudget(core.config.OAUTH_REQUESTS_PER_MINUTE, core.now)
  const admit = ({ caller }: FastifyRequest) => {
    if (!budget.spend(caller.ip)) throw new ApiError(429, 'Too many requests; wait a minute')
  }
  const needs = { current, admit }
  return [
    { prefix: '', routes: protocolRoutes({ ...needs, issuer: issuerOf(core) }) },
    { prefix: '', routes: interactionRoutes({ ...needs, interactions: interactionService(core) }) },
  ]
}
