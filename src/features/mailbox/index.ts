import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import type { MailboxService } from '../mailboxes/mailboxes.service.ts'
import { passwordRoutes } from './password/password.routes.ts'
import { passwordService } from './password/password.service.ts'
import { twoFactorRoutes } from './two-factor/two-factor.routes.ts'
import { twoFactorService } from './two-factor/two-factor.service.ts'

/** The holder's own pages; no path takes an account id. */
export const mailbox = (core: Core, mailboxes: Pick<MailboxService, 'edit'>): Feature => ({
  prefix: '/api/v1/mailbox',
  routes: async (app) => {
    await app.register(passwordRoutes(passwordService({ ...core, mailboxes })))
    await app.register(twoFactorRoutes(twoFactorService(core)))
  },
})
