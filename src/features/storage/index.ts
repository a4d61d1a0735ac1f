import type { Core } from '../../core.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import type { MailboxService } from '../mailboxes/mailboxes.service.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'
import { storageRoutes } from './storage.routes.ts'
import { storageService } from './storage.service.ts'
import { followUsage } from './usage/follow-usage.ts'
import { deleteOldCalculations, reportUsage } from './usage/usage.jobs.ts'

export function storage(
  core: Core,
  { domains, mailboxes }: { domains: DomainService; mailboxes: MailboxService },
): Feature {
  const service = storageService({ ...core, domains, mailboxes })
  return {
    prefix: '/api/v1/storage',
    routes: storageRoutes(service, cleanupService({ ...core, storage: service })),
    capabilities: ['storage'],
    jobs: [reportUsage(core.config), deleteOldCalculations],
    chores: [followUsage],
  }
}
