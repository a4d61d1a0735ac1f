import type { Core } from '../../core.ts'
import type { AliasService } from '../aliases/aliases.service.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import { keepSharedRights } from './acl/keep-rights.ts'
import { sharedMailboxRoutes } from './shared-mailboxes.routes.ts'
import { sharedMailboxService } from './shared-mailboxes.service.ts'

export const sharedMailboxes = (
  core: Core,
  { domains, aliases }: { domains: DomainService; aliases: AliasService },
): Feature => ({
  prefix: '/api/v1/shared-mailboxes',
  routes: sharedMailboxRoutes(sharedMailboxService({ ...core, domains, aliases })),
  capabilities: ['shared_mailboxes'],
  edition: 'enterprise',
  chores: [keepSharedRights],
})
