import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { collectionService } from './collections/collections.service.ts'
import { documentService } from './documents/documents.service.ts'
import { healthService } from './health.service.ts'
import { indexingService } from './indexing/indexing.service.ts'
import { organizationRoutes } from './organizations.routes.ts'
import { ragRoutes } from './rag.routes.ts'
import { searchService } from './search/search.service.ts'
import { settingsService } from './settings/settings.service.ts'

export function rag(core: Core): Feature {
  const settings = settingsService(core)
  const collections = collectionService({ ...core, settings })
  const services = {
    collections,
    search: searchService({ ...core, settings, collections }),
    indexing: indexingService({ ...core, settings }),
    documents: documentService({ ...core, settings, collections }),
    health: healthService(core),
  }
  return {
    prefix: '/api/v1/rag',
    capabilities: ['rag'],
    routes: async (app) => {
      await app.register(ragRoutes(services))
      await app.register(organizationRoutes(settings, services))
    },
  }
}
