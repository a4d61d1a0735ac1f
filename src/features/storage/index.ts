import type { Core } from '../../core.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import type { MailboxService } from '../mailboxes/mailboxes.service.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'
import { historyService } from './history/history.service.ts'
import { storageRoutes } from './storage.routes.ts'
import { storageService } from './storage.service.ts'

export function storage(
  core: Core,
  { domains, mailboxes }: { domains: DomainService; mailboxes: MailboxService },
): Feature {
  const service = storageService({ ...core, domains, mailboxes })
  const cleanup = cleanupService({ ...core, storage: service })
  return {
    prefix: '/api/v1/storage',
    routes: storageRoutes(service, cleanup, historyService(core)),
    capabilities: ['storage', 'storage_history'],
  }
}
