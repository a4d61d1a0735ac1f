import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { mailboxAuthRoutes } from './mailbox-auth.routes.ts'
import { mailboxAuthService } from './mailbox-auth.service.ts'

export const mailboxAuth = (core: Core): Feature => ({
  prefix: '/api/v1/mailbox-auth',
  routes: mailboxAuthRoutes(mailboxAuthService(core)),
})
