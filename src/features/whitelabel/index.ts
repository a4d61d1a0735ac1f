import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { whitelabelRoutes } from './whitelabel.routes.ts'
import { whitelabelService } from './whitelabel.service.ts'

export const whitelabel = (core: Core): Feature => ({
  prefix: '/api/v1/whitelabel',
  routes: whitelabelRoutes(whitelabelService(core)),
  capabilities: ['whitelabel'],
})
