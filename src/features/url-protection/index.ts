import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { closeChecker } from './checking/checker.ts'
import { operatorRoutes } from './management/operator.routes.ts'
import { urlProtectionRoutes } from './management/url-protection.routes.ts'
import { urlProtectionService } from './management/url-protection.service.ts'
import { forgetClicks } from './url-protection.jobs.ts'

/** The management of link protection; the daemon `url_protection` answers clicks. */
export function urlProtection(core: Core): Feature[] {
  const prefix = '/api/v1/url-protection'
  const service = urlProtectionService(core)
  return [
    {
      prefix,
      routes: urlProtectionRoutes(service),
      capabilities: ['url_protection'],
      jobs: [forgetClicks],
      close: () => closeChecker(core),
    },
    { prefix, routes: operatorRoutes(service) },
  ]
}
