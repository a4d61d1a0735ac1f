import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { apiKeyRoutes } from './api-keys.routes.ts'
import { apiKeyService } from './api-keys.service.ts'

export const apiKeys = (core: Core): Feature => ({
  prefix: '/api/v1/api-keys',
  routes: apiKeyRoutes(apiKeyService(core)),
  capabilities: core.config.SVC_SELF_SERVICE_KEYS
    ? ['api_keys', 'self_service_keys']
    : ['api_keys'],
})
