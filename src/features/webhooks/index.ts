import { globalWebhookUrl } from '../../config/index.ts'
import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { deadLetterRoutes } from './dead-letters/dead-letters.routes.ts'
import { deadLetterService } from './dead-letters/dead-letters.service.ts'
import { deliveryRoutes } from './deliveries/deliveries.routes.ts'
import { deliveryService } from './deliveries/deliveries.service.ts'
import { endpointRoutes } from './endpoints/endpoints.routes.ts'
import { endpointService } from './endpoints/endpoints.service.ts'
import { eventTypeRoutes } from './event-types/event-types.routes.ts'

export function webhooks(core: Core): Feature {
  const globalUrl = globalWebhookUrl(core.config)
  const endpoints = endpointService(core)
  const deliveries = deliveryService(core)
  const deadLetters = deadLetterService({ ...core, globalUrl, fansOut: core.config.WEBHOOK_FANOUT })
  return {
    prefix: '/api/v1/webhooks',
    capabilities: [
      'webhooks',
      'webhook_replay',
      ...(core.config.WEBHOOK_FANOUT ? ['webhook_fanout'] : []),
    ],
    routes: async (app) => {
      await app.register(endpointRoutes(endpoints), { prefix: '/endpoints' })
      await app.register(deliveryRoutes(deliveries), { prefix: '/deliveries' })
      await app.register(deadLetterRoutes(deadLetters), { prefix: '/dead-letters' })
      await app.register(eventTypeRoutes, { prefix: '/event-types' })
    },
  }
}
