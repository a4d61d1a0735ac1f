import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import type { UserService } from '../users/users.service.ts'
import { resellerRoutes } from './reseller.routes.ts'
import { resellerService } from './reseller.service.ts'

export const reseller = (core: Core, { users }: { users: UserService }): Feature => ({
  prefix: '/api/v1/reseller',
  routes: resellerRoutes(resellerService({ ...core, users })),
  capabilities: ['reseller'],
})
