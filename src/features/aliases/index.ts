import type { Feature } from '../feature.ts'
import { aliasRoutes } from './aliases.routes.ts'
import type { AliasService } from './aliases.service.ts'

export const aliases = (service: AliasService): Feature => ({
  prefix: '/api/v1/aliases',
  routes: aliasRoutes(service),
  capabilities: ['aliases'],
})
