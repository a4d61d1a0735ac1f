import { anonymous, type Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { aliasService } from '../../aliases/aliases.service.ts'
import { domainService } from '../../domains/domains.service.ts'
import { mailboxChanges } from '../../mailboxes/mailboxes.changes.ts'
import { organizationService } from '../../organizations/organizations.service.ts'
import { rateSettings } from '../../rate-limiter/rate-settings.ts'
import { userService } from '../../users/users.service.ts'
import type { Person } from '../personal-data/personal-table.ts'
import type { Add } from './erasers.ts'

/** Removes the mailbox with its dependent rows, and the aliases that have no other destination. */
export async function eraseMailbox(core: Core, { account_id }: Person, add: Add) {
  if (account_id === null) return
  const rates = rateSettings(core)
  const organizations = organizationService({ ...core, users: userService(core), rates })
  const domains = domainService({ ...core, organizations, rates })
  const aliases = aliasService({ ...core, domains })
  const changes = mailboxChanges({ ...core, domains, aliases, rates })
  const removed = await changes.remove(systemCaller(), account_id, {
    fromAliases: true,
    erasing: true,
  })
  if (removed) await add(core.db, { mailboxes: 1, aliases: removed.aliasesDeleted })
}

const systemCaller = (): Caller => ({
  ...anonymous,
  scope: 'platform',
  ip: '',
  userAgent: null,
  correlationId: ulid(),
  atStart: [],
  atCommit: [],
})
