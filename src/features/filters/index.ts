import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import type { ScriptStore } from '../mailbox/script-store/script-store.ts'
import { filterRoutes } from './filters.routes.ts'
import { filterService } from './filters.service.ts'
import { tenantVacationService } from './vacation.service.ts'

export function filters(core: Core, { scripts }: { scripts: ScriptStore }): Feature {
  const service = filterService({ ...core, scripts })
  return {
    prefix: '/api/v1/filters',
    routes: filterRoutes(service, tenantVacationService({ scripts, filters: service })),
    capabilities: ['filters'],
  }
}
