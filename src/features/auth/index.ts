import type { Core } from '../../core.ts'
import type { Manifest } from '../capabilities/manifest.ts'
import type { Feature } from '../feature.ts'
import { authRoutes } from './auth.routes.ts'
import { authService } from './auth.service.ts'

export const auth = (core: Core, manifest: () => Manifest): Feature => ({
  prefix: '/api/v1/auth',
  routes: authRoutes(authService({ ...core, manifest })),
})
