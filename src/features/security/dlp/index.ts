import type { Core } from '../../../core.ts'
import { dlpRoutes } from './dlp.routes.ts'
import { dlpService } from './dlp.service.ts'

export const dlp = (core: Core) => dlpRoutes(dlpService(core))

export { type DlpStage, dlpStage } from './stage.ts'
