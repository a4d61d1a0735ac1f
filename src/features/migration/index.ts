import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { eraseOldCredentials } from './migration.jobs.ts'
import { migrationRoutes } from './migration.routes.ts'
import { migrationService } from './migration.service.ts'

export const migration = (core: Core): Feature => ({
  prefix: '/api/v1/migration',
  routes: migrationRoutes(migrationService(core)),
  capabilities: ['migration'],
  edition: 'enterprise',
  jobs: [eraseOldCredentials],
})
