import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { dlp } from './dlp/index.ts'
import { failedAuthRoutes } from './failed-auth/failed-auth.routes.ts'
import { failedAuthService } from './failed-auth/failed-auth.service.ts'
import { geoPolicyRoutes } from './geo-policies/geo-policies.routes.ts'
import { geoPolicyService } from './geo-policies/geo-policies.service.ts'
import { ipRuleRoutes } from './ip-rules/ip-rules.routes.ts'
import { ipRuleService } from './ip-rules/ip-rules.service.ts'
import { throttleRoutes } from './throttles/throttles.routes.ts'
import { throttleService } from './throttles/throttles.service.ts'

export const security = (core: Core): Feature => ({
  prefix: '/api/v1/security',
  capabilities: ['security', 'dlp', 'throttles'],
  routes: async (app) => {
    await app.register(failedAuthRoutes(failedAuthService(core)), { prefix: '/failed-auth' })
    await app.register(ipRuleRoutes(ipRuleService(core)), { prefix: '/ip-rules' })
    await app.register(geoPolicyRoutes(geoPolicyService(core)), { prefix: '/geo-policies' })
    await app.register(throttleRoutes(throttleService(core)), { prefix: '/throttles' })
    await app.register(dlp(core))
  },
})
