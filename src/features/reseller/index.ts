import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { resellerRoutes } from './reseller.routes.ts'
import { resellerService } from './reseller.service.ts'

export const reseller = (core: Core): Feature => ({
  prefix: '/api/v1/reseller',
  routes: resellerRoutes(resellerService(core)),
  capabilities: ['reseller'],
})
