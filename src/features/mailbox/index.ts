import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import type { MailboxService } from '../mailboxes/mailboxes.service.ts'
import { grantService } from '../oauth/grants/grants.service.ts'
import { appPasswordRoutes } from './app-passwords/app-passwords.routes.ts'
import { appPasswordService } from './app-passwords/app-passwords.service.ts'
import { blockedSenderRoutes } from './blocked-senders/blocked-senders.routes.ts'
import { blockedSenderService } from './blocked-senders/blocked-senders.service.ts'
import { mailboxCapabilityRoutes } from './capabilities/capabilities.routes.ts'
import { mailboxCapabilityService } from './capabilities/capabilities.service.ts'
import { forwardingRoutes } from './forwarding/forwarding.routes.ts'
import { forwardingService } from './forwarding/forwarding.service.ts'
import { mailboxGrantRoutes } from './grants/grants.routes.ts'
import { passwordRoutes } from './password/password.routes.ts'
import { passwordService } from './password/password.service.ts'
import { profileRoutes } from './profile/profile.routes.ts'
import { profileService } from './profile/profile.service.ts'
import { ruleRoutes } from './rules/rules.routes.ts'
import { ruleService } from './rules/rules.service.ts'
import { keepScripts } from './script-store/keep-scripts.ts'
import type { ScriptStore } from './script-store/script-store.ts'
import { mailboxSessionRoutes } from './sessions/sessions.routes.ts'
import { mailboxSessionService } from './sessions/sessions.service.ts'
import { twoFactorRoutes } from './two-factor/two-factor.routes.ts'
import { twoFactorService } from './two-factor/two-factor.service.ts'
import { vacationRoutes } from './vacation/vacation.routes.ts'
import { vacationService } from './vacation/vacation.service.ts'

/** The holder's own pages; no path takes an account id. */
export const mailbox = (
  core: Core,
  { mailboxes, scripts }: { mailboxes: Pick<MailboxService, 'edit'>; scripts: ScriptStore },
): Feature => ({
  prefix: '/api/v1/mailbox',
  routes: async (app) => {
    await app.register(profileRoutes(profileService(core)))
    await app.register(mailboxSessionRoutes(mailboxSessionService(core)))
    await app.register(passwordRoutes(passwordService({ ...core, mailboxes })))
    await app.register(twoFactorRoutes(twoFactorService(core)))
    await app.register(mailboxGrantRoutes(grantService(core)))
    await app.register(appPasswordRoutes(appPasswordService(core)))
    await app.register(mailboxCapabilityRoutes(mailboxCapabilityService({ ...core, scripts })))
    await app.register(forwardingRoutes(forwardingService(scripts, core)))
    await app.register(ruleRoutes(ruleService(scripts, core)))
    await app.register(vacationRoutes(vacationService(scripts)))
    await app.register(blockedSenderRoutes(blockedSenderService(scripts)))
  },
  chores: [keepScripts],
})
