import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { transportRuleRoutes } from './transport-rules.routes.ts'
import { transportRuleService } from './transport-rules.service.ts'
import { trialService } from './trial.service.ts'

export function transportRules(core: Core): Feature {
  const service = transportRuleService(core)
  return {
    prefix: '/api/v1/transport-rules',
    routes: transportRuleRoutes(service, trialService({ ...core, rules: service })),
    capabilities: ['transport_rules'],
  }
}
