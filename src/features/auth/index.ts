import type { Core } from '../../core.ts'
import type { Manifest } from '../capabilities/manifest.ts'
import type { Feature } from '../feature.ts'
import type { UserAccessService } from '../users/user-access.service.ts'
import { authRoutes } from './auth.routes.ts'
import { authService } from './auth.service.ts'
import { linkRoutes } from './links/links.routes.ts'
import { linkService } from './links/links.service.ts'
import { ownSessionRoutes } from './sessions/sessions.routes.ts'
import { userTwoFactorRoutes } from './two-factor/two-factor.routes.ts'
import { userTwoFactorService } from './two-factor/two-factor.service.ts'

export const auth = (
  core: Core,
  { manifest, userAccess }: { manifest: () => Manifest; userAccess: UserAccessService },
): Feature => ({
  prefix: '/api/v1/auth',
  capabilities: ['dashboard_two_factor', 'account_links'],
  routes: async (app) => {
    await app.register(authRoutes(authService({ ...core, manifest })))
    await app.register(linkRoutes(linkService(core)))
    await app.register(userTwoFactorRoutes(userTwoFactorService(core)), { prefix: '/two-factor' })
    await app.register(ownSessionRoutes(userAccess), { prefix: '/sessions' })
  },
})
