import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { legacyMailboxRoutes } from './legacy/legacy.routes.ts'
import { legacyMailboxService } from './legacy/legacy.service.ts'
import { mailboxRoutes } from './mailboxes.routes.ts'
import type { MailboxService } from './mailboxes.service.ts'

export const mailboxes = (core: Core, service: MailboxService): Feature => ({
  prefix: '/api/v1/mailboxes',
  capabilities: ['mailboxes'],
  routes: async (app) => {
    await app.register(legacyMailboxRoutes(legacyMailboxService({ ...core, mailboxes: service })))
    await app.register(mailboxRoutes(service))
  },
})
