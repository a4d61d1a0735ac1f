import { issueKey } from '../../access/api-keys.ts'
import { AlreadyBootstrapped } from '../../access/bootstrap-tokens.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { invalidField } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { hashPassword, passwordProblem } from '../../lib/passwords.ts'
import { ulid } from '../../lib/ulid.ts'
import { OrganizationCreated } from '../organizations/organizations.events.ts'
import * as tenants from './bootstrap.repository.ts'

type Needs = Pick<Core, 'access' | 'change' | 'events' | 'now'>

export type BootstrapService = ReturnType<typeof bootstrapService>

export const bootstrapService = ({ access, change, events, now }: Needs) => ({
  /** First organization, domain, mailbox, dashboard user and API key: all of them, or none. */
  async create(
    caller: Caller,
    body: { organization_name: string; admin_email: string; admin_password: string },
  ) {
    const problem = passwordProblem(body.admin_password)
    if (problem) throw invalidField('admin_password', problem)
    const [local = '', name = ''] = body.admin_email.toLowerCase().split('@')
    const domain = toDomainName(name)
    if (!domain) throw invalidField('admin_email', 'Domain part is not a valid domain name')
    const email = `${local}@${domain}`
    const organizationId = ulid()
    const passwordHash = await hashPassword(body.admin_password)

    const key = await change(caller, async (tx) => {
      await tenants.lock(tx)
      if (await tenants.anyOrganization(tx)) throw new AlreadyBootstrapped('organization')
      await tenants.insertFirstTenant(tx, {
        organizationId,
        organizationName: body.organization_name,
        domainId: ulid(),
        domain,
        accountId: ulid(),
        userId: ulid(),
        email,
        passwordHash,
        now: now().toISOString(),
      })
      await access.bootstrap.spend(tx, 'organization')
      await tenants.tellBootstrapped(tx, 'organization')
      await events.emit(
        tx,
        OrganizationCreated,
        { org_id: organizationId, domain },
        { organization_id: organizationId, name: body.organization_name, admin_email: email },
      )
      return issueKey(tx, {
        name: `${body.organization_name}-key`,
        organizationId,
        scope: 'organization',
        permissions: { read: true, write: true },
        expiresAt: null,
      })
    })
    access.bootstrap.removeFile('organization')
    return { organization_id: organizationId, domain, mailbox: email, api_key: key.api_key }
  },
})
