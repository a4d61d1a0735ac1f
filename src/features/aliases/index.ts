import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { aliasRoutes } from './aliases.routes.ts'
import type { AliasService } from './aliases.service.ts'

export const aliases = (_core: Core, { aliases: service }: { aliases: AliasService }): Feature => ({
  prefix: '/api/v1/aliases',
  routes: aliasRoutes(service),
  capabilities: ['aliases'],
})
