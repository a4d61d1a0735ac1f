import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { dlp } from './dlp/index.ts'

export const security = (core: Core): Feature => ({
  prefix: '/api/v1/security',
  routes: async (app) => {
    await app.register(dlp(core))
  },
  capabilities: ['dlp'],
})
