import { issueKey } from '../../access/api-keys.ts'
import { AlreadyBootstrapped } from '../../access/bootstrap-tokens.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { invalidField } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { passwordProblem } from '../../lib/passwords.ts'
import { ulid } from '../../lib/ulid.ts'
import { makeKey, storeSigningKey } from '../domains/dkim/signing-key.ts'
import { DomainAdded, eventData, eventSubject } from '../domains/domains.events.ts'
import { MailboxCreated } from '../mailboxes/mailboxes.events.ts'
import { OrganizationCreated } from '../organizations/organizations.events.ts'
import * as tenants from './bootstrap.repository.ts'

type Needs = Pick<Core, 'access' | 'change' | 'events' | 'log' | 'now' | 'passwords' | 'vault'>

export type BootstrapService = ReturnType<typeof bootstrapService>

export const bootstrapService = (needs: Needs) => ({
  /** Returns the accounts that the first run still has to create, and the paths of its tokens. */
  async state() {
    const { bootstrap } = needs.access
    const [organization, operator] = await Promise.all([
      bootstrap.isOpen('organization'),
      bootstrap.isOpen('operator'),
    ])
    return {
      organization: organization ? ('open' as const) : ('done' as const),
      operator: operator ? ('open' as const) : ('done' as const),
      token_files: {
        organization: organization ? bootstrap.fileOf('organization') : null,
        operator: operator ? bootstrap.fileOf('operator') : null,
      },
    }
  },

  /** Creates the first organization, domain, mailbox, dashboard user and API key in one transaction. */
  async create(
    caller: Caller,
    body: { organization_name: string; admin_email: string; admin_password: string },
  ) {
    const { access, change, now, passwords } = needs
    const problem = passwordProblem(body.admin_password)
    if (problem) throw invalidField('admin_password', problem)
    const [local = '', name = ''] = body.admin_email.toLowerCase().split('@')
    const domain = toDomainName(name)
    if (!domain) throw invalidField('admin_email', 'Domain part is not a valid domain name')
    const first = {
      organizationId: ulid(),
      organizationName: body.organization_name,
      domainId: ulid(),
      domain,
      accountId: ulid(),
      userId: ulid(),
      email: `${local}@${domain}`,
      passwordHash: await passwords.hash(body.admin_password),
      now: now().toISOString(),
    }
    const dkimKey = await makeKey(needs)

    const key = await change(caller, async (tx) => {
      await tenants.lock(tx)
      if (await tenants.anyOrganization(tx)) throw new AlreadyBootstrapped('organization')
      const row = await tenants.insertFirstTenant(tx, first)
      if (dkimKey) await storeSigningKey(needs, tx, row, dkimKey)
      await access.bootstrap.spend(tx, 'organization')
      await emitEvents(needs, tx, first)
      return issueKey(tx, {
        name: `${body.organization_name}-key`,
        organizationId: first.organizationId,
        scope: 'organization',
        permissions: { read: true, write: true },
        expiresAt: null,
      })
    })
    access.bootstrap.removeFile('organization')
    const { organizationId, email } = first
    return { organization_id: organizationId, domain, mailbox: email, api_key: key.api_key }
  },
})

/** The events that the routes of organizations, domains and mailboxes would emit. */
async function emitEvents({ events }: Needs, tx: Tx, first: tenants.FirstTenant): Promise<void> {
  const { organizationId: organization_id, organizationName: name, domain, email } = first
  const row = { id: first.domainId, organization_id, domain }
  const subject = eventSubject(row)
  await events.emit(tx, OrganizationCreated, subject, { organization_id, name, admin_email: email })
  await events.emit(tx, DomainAdded, subject, eventData(row))
  await events.emit(tx, MailboxCreated, subject, {
    account_id: first.accountId,
    email,
    organization_id,
    domain_id: first.domainId,
  })
}
