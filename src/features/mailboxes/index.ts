import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { bulkMailboxRoutes } from './bulk/bulk.routes.ts'
import { bulkMailboxService } from './bulk/bulk.service.ts'
import { purgeDeletedMailboxes } from './deleted/purge-deleted.ts'
import { endLogins } from './ended-logins/end-logins.ts'
import { legacyMailboxRoutes } from './legacy/legacy.routes.ts'
import { legacyMailboxService } from './legacy/legacy.service.ts'
import { mailboxRoutes } from './mailboxes.routes.ts'
import type { MailboxService } from './mailboxes.service.ts'
import { holderTwoFactorRoutes } from './two-factor/two-factor.routes.ts'
import { holderTwoFactorService } from './two-factor/two-factor.service.ts'

export const mailboxes = (
  core: Core,
  { mailboxes: service }: { mailboxes: MailboxService },
): Feature => ({
  prefix: '/api/v1/mailboxes',
  capabilities: ['mailboxes', 'holder_two_factor_reset', 'bulk_mailboxes'],
  jobs: [purgeDeletedMailboxes],
  chores: [endLogins],
  routes: async (app) => {
    await app.register(legacyMailboxRoutes(legacyMailboxService({ ...core, mailboxes: service })))
    await app.register(mailboxRoutes(service))
    await app.register(bulkMailboxRoutes(bulkMailboxService({ mailboxes: service })))
    await app.register(holderTwoFactorRoutes(holderTwoFactorService(core)))
  },
})
