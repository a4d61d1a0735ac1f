import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { inventory } from './inventory/inventory.ts'
import { sslRoutes } from './ssl.routes.ts'
import { sslService } from './ssl.service.ts'

export const ssl = (core: Core): Feature => ({
  prefix: '/api/v1/ssl',
  capabilities: ['ssl'],
  routes: sslRoutes(sslService({ ...core, inventory: inventory(core) })),
})
