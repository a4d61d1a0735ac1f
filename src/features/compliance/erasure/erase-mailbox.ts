import { anonymous, type Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { aliasService } from '../../aliases/aliases.service.ts'
import { domainService } from '../../domains/domains.service.ts'
import { mailboxChanges } from '../../mailboxes/mailboxes.changes.ts'
import { organizationService } from '../../organizations/organizations.service.ts'
import type { Add, Person } from './erasers.ts'

/** The mailbox with all that hangs on it, and the aliases that led to nobody else. */
export async function eraseMailbox(core: Core, { account_id }: Person, add: Add) {
  const domains = domainService({ ...core, organizations: organizationService(core) })
  const aliases = aliasService({ ...core, domains })
  const changes = mailboxChanges({ ...core, domains, aliases })
  const gone = await changes.remove(ourselves(), account_id, { fromAliases: true, erasing: true })
  if (gone) await add(core.db, { mailboxes: 1, aliases: gone.aliasesDeleted })
}

const ourselves = (): Caller => ({
  ...anonymous,
  scope: 'platform',
  ip: '',
  userAgent: null,
  correlationId: ulid(),
  atCommit: [],
})
