import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import type { SendingService } from '../messages/sending/sending.service.ts'
import { internalRoutes } from './internal.routes.ts'
import { closeRenderCounts, renderCountsOf } from './render-counts.ts'
import { renderer } from './renderer.ts'
import { templateSendingRoutes } from './sending.routes.ts'
import { templateSendingService } from './template-sending.service.ts'
import { templateRoutes } from './templates.routes.ts'
import { templateService } from './templates.service.ts'
import { versionRoutes } from './versions.routes.ts'

function build(core: Core) {
  const counts = () => renderCountsOf(core)
  const rendering = renderer({ ...core, counts })
  return { rendering, templates: templateService({ ...core, counts, renderer: rendering }) }
}

/** The templates of tenants; the daemon `templates` serves them to other services. */
export const templates = (core: Core, { sending }: { sending: SendingService }): Feature => {
  const { rendering, templates } = build(core)
  return {
    prefix: '/api/v1/templates',
    capabilities: ['templates'],
    async routes(app) {
      await app.register(templateRoutes(templates))
      await app.register(versionRoutes(templates))
      const needs = { templates, renderer: rendering, sending }
      await app.register(templateSendingRoutes(templateSendingService(needs)))
    },
    close: () => closeRenderCounts(core),
  }
}

export const templateFeatures = (core: Core): Feature[] => [
  { prefix: '', routes: internalRoutes(build(core).templates) },
]
