import type { Core } from '../core.ts'
import { type AliasService, aliasService } from './aliases/aliases.service.ts'
import type { Manifest } from './capabilities/manifest.ts'
import type { AccountLister } from './domains/domains.routes.ts'
import { Domain } from './domains/domains.schemas.ts'
import { type DomainService, domainService } from './domains/domains.service.ts'
import { type ScriptStore, scriptStore } from './mailbox/script-store/script-store.ts'
import { EmailAccount } from './mailboxes/mailboxes.schemas.ts'
import { type MailboxService, mailboxService } from './mailboxes/mailboxes.service.ts'
import { type SendingService, sendingService } from './messages/sending/sending.service.ts'
import type { Restarts } from './monitoring/restarts/restarts.ts'
import type { DomainLister } from './organizations/organizations.routes.ts'
import {
  type OrganizationService,
  organizationService,
} from './organizations/organizations.service.ts'
import { rateSettings } from './rate-limiter/rate-settings.ts'
import { type UserAccessService, userAccessService } from './users/user-access.service.ts'
import { type UserService, userService } from './users/users.service.ts'

/** The services that more than one feature needs. */
export interface Services {
  users: UserService
  userAccess: UserAccessService
  organizations: OrganizationService
  domains: DomainService
  domainLister: DomainLister
  aliases: AliasService
  mailboxes: MailboxService
  accountLister: AccountLister
  scripts: ScriptStore
  sending: SendingService
  restarts: Restarts
  manifest: () => Manifest
}

/** Handed in by the process that runs the features. */
export type Given = Pick<Services, 'restarts' | 'manifest'>

/** In the order in which they need each other, so that a cycle cannot be written. */
export function sharedServices(core: Core, given: Given): Services {
  const users = userService(core)
  const rates = rateSettings(core)
  const organizations = organizationService({ ...core, users, rates })
  const domains = domainService({ ...core, organizations, rates })
  const aliases = aliasService({ ...core, domains })
  const mailboxes = mailboxService({ ...core, organizations, domains, aliases, rates })
  return {
    ...given,
    users,
    userAccess: userAccessService(core),
    organizations,
    domains,
    domainLister: { ...domains, shape: Domain },
    aliases,
    mailboxes,
    accountLister: { ...mailboxes, shape: EmailAccount },
    scripts: scriptStore(core),
    sending: sendingService(core),
  }
}
