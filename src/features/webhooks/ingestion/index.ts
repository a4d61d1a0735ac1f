import type { Core } from '../../../core.ts'
import type { Feature } from '../../feature.ts'
import { cleanupRoutes } from '../cleanup/cleanup.routes.ts'
import { cleanupService } from '../cleanup/cleanup.service.ts'
import { ingestionRoutes } from './ingestion.routes.ts'
import { ingestionService } from './ingestion.service.ts'

/** The routes that other services of the installation hand in events with. */
export const ingestion = (core: Core, counted: (events: number) => void): Feature => ({
  prefix: '',
  routes: async (app) => {
    await app.register(ingestionRoutes(ingestionService({ ...core, counted })))
    await app.register(cleanupRoutes(cleanupService(core)))
  },
})
