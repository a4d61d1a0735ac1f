import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { mailLinks } from './links/mail-links.chore.ts'
import { userAccessRoutes } from './user-access.routes.ts'
import type { UserAccessService } from './user-access.service.ts'
import { userRoutes } from './users.routes.ts'
import type { UserService } from './users.service.ts'

export const users = (
  _core: Core,
  { users: service, userAccess }: { users: UserService; userAccess: UserAccessService },
): Feature => ({
  prefix: '/api/v1/users',
  capabilities: ['dashboard_users'],
  chores: [mailLinks],
  routes: async (app) => {
    await app.register(userRoutes(service))
    await app.register(userAccessRoutes(userAccess))
  },
})
