import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { autoconfigRoutes, tlsRptRoutes } from './autoconfig.routes.ts'
import { autoconfigService } from './autoconfig.service.ts'
import { type TlsRptService, tlsRptService } from './tls-rpt/tls-rpt.service.ts'

/** Standards fix the paths, so there is no prefix. */
export const autoconfigFeatures = (
  core: Core,
  reports: TlsRptService = tlsRptService(core),
): Feature[] => [
  { prefix: '', routes: autoconfigRoutes(autoconfigService(core), core) },
  { prefix: '', routes: tlsRptRoutes(reports, core) },
]
