import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { archiveRoutes } from './archive.routes.ts'
import { archiveService } from './archive.service.ts'
import { openStorages } from './storage/storage.ts'

/** Search and restore; the daemon `archiver` uploads, and the content filter archives. */
export const archive = (core: Core): Feature => {
  const storages = openStorages(core)
  return {
    prefix: '/api/v1/archive',
    isPatient: true,
    routes: archiveRoutes(archiveService(core, storages)),
    capabilities: ['archive'],
    close: () => storages.close(),
  }
}
