import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { allottedToSubOrganizations } from '../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { ulid } from '../../lib/ulid.ts'
import { forgetLogins } from '../../mail/stale-logins.ts'
import {
  OrganizationCreated,
  OrganizationSuspended,
  OrganizationUpdated,
} from '../organizations/organizations.events.ts'
import type { UserService } from '../users/users.service.ts'
import * as errors from './reseller.errors.ts'
import { ResellerAccountCreated, ResellerAccountSuspended } from './reseller.events.ts'
import * as resellers from './reseller.repository.ts'

const MEGABYTE = 1024 * 1024
const DEFAULTS = {
  max_users: 50,
  max_domains: 5,
  storage_limit: 10 * 1024 ** 3,
  plan_name: 'starter',
}

interface Plan {
  max_users?: number
  max_domains?: number
  storage_limit?: number
  plan_name?: string
}

interface NewSubOrganization extends Plan {
  parent_org_id: string
  name: string
  admin_email?: string | null
  admin_name?: string | null
}

interface Needs extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  users: Pick<UserService, 'inviteOwner'>
}

export type ResellerService = ReturnType<typeof resellerService>

export function resellerService({ access, authCache, change, db, events, now, users }: Needs) {
  /** The sum of a parent's allotments and of its own domains must stay within its limits. */
  async function refuseTooMuch(tx: Tx, parentId: string, wanted: number, had: number) {
    const parent = await resellers.lockParent(tx, parentId)
    if (!parent) throw new errors.ParentNotFound()
    if (parent.storage_limit === null) return parent
    const given = await allottedToSubOrganizations(tx, parentId)
    const left = Math.max(0, parent.storage_limit - parent.storage_quota - given + had)
    if (wanted > left) throw new errors.ParentLimitExceeded({ left })
    return parent
  }

  /** The storage limit of the organization, in its unit. */
  const quotasOf = (bytes: number, before: object = {}) => ({
    ...before,
    storage_quota_mb: bytes / MEGABYTE,
  })

  return {
    async create(caller: Caller, sent: NewSubOrganization) {
      const { parent_org_id, name, admin_email = null, admin_name = null } = sent
      const plan = { ...DEFAULTS, ...planOf(sent) }
      return change(caller, async (tx) => {
        const parent = await refuseTooMuch(tx, parent_org_id, plan.storage_limit, 0)
        if (parent.parent_organization_id !== null) throw new errors.ParentIsSubOrganization()
        if (!parent.active) throw new errors.ParentSuspended()
        const at = now().toISOString()
        const { storage_limit, ...limits } = plan
        const row = await resellers.insert(tx, {
          id: ulid(),
          parent_organization_id: parent.id,
          name,
          admin_email,
          admin_name,
          ...limits,
          storage_quotas: quotasOf(storage_limit),
          quota_override: true,
          quota_override_at: at,
          quota_override_by: caller.email,
          created_at: at,
          updated_at: at,
        })
        const about = { org_id: row.id }
        const told = { organization_id: row.id, name, admin_email }
        await events.emit(tx, OrganizationCreated, about, told)
        await events.emit(tx, ResellerAccountCreated, about, {
          ...told,
          parent_org_id: parent.id,
          plan_name: plan.plan_name,
        })
        if (admin_email) await users.inviteOwner(tx, row.id, admin_email, admin_name)
        return shown(row)
      })
    },

    async list(filter: { parent_org_id?: string; status?: 'active' | 'inactive' }, page: Page) {
      const { parent_org_id: parent, status } = filter
      const { items, total } = await resellers.list(
        db,
        {
          ...(parent !== undefined && { parent }),
          ...(status !== undefined && { active: status === 'active' }),
        },
        page,
      )
      return paginated(items.map(shown), total, page)
    },

    async get(id: string) {
      const row = await resellers.find(db, id)
      if (!row) throw new errors.SubOrganizationNotFound()
      return { ...shown(row), domains: await resellers.domainsOf(db, id) }
    },

    /** Refuses limits below the current use: a plan restricts, it deletes nothing. */
    async setPlan(caller: Caller, id: string, sent: Plan) {
      const known = await resellers.find(db, id)
      if (!known) throw new errors.SubOrganizationNotFound()
      const { storage_limit, ...limits } = planOf(sent)
      const updated_fields = Object.keys(planOf(sent))
      if (updated_fields.length === 0) throw new errors.NoPlanFields()
      return change(caller, async (tx) => {
        const parent = known.parent_organization_id
        await resellers.lockParent(tx, parent)
        const row = await resellers.lock(tx, id)
        if (!row) throw new errors.SubOrganizationNotFound()
        if (storage_limit !== undefined) {
          await refuseTooMuch(tx, parent, storage_limit, row.storage_limit ?? 0)
        }
        refuseBelow('max_users', limits.max_users, row.email_account_count)
        refuseBelow('max_domains', limits.max_domains, row.domain_count)
        refuseBelow('storage_limit', storage_limit, row.storage_quota)
        const fields = {
          ...limits,
          ...(storage_limit !== undefined && {
            storage_quotas: quotasOf(storage_limit, row.storage_quotas),
          }),
        }
        const after = await resellers.update(tx, id, fields, now())
        const told = { organization_id: id, name: after.name, updated_fields }
        await events.emit(tx, OrganizationUpdated, { org_id: id }, told)
        return shown(after)
      })
    },

    /** Stops logins and mail like every suspension; deletes nothing. */
    async suspend(caller: Caller, id: string) {
      const row = await change(caller, async (tx) => {
        const before = await resellers.lock(tx, id)
        if (!before) throw new errors.SubOrganizationNotFound()
        if (!before.active) return before
        const after = await resellers.update(tx, id, { active: false }, now())
        const told = { organization_id: id, name: after.name }
        await events.emit(tx, OrganizationSuspended, { org_id: id }, told)
        const parent_org_id = after.parent_organization_id
        await events.emit(tx, ResellerAccountSuspended, { org_id: id }, { ...told, parent_org_id })
        return after
      })
      await access.settled()
      await forgetLogins(db, authCache, { organization: id })
      return shown(row)
    },

    async billing(parentId: string | undefined) {
      const summary = await resellers.billing(db, parentId ?? null)
      return {
        parent_org_id: parentId ?? null,
        ...summary,
        total_mailboxes: summary.total_users,
        total_storage_bytes: summary.total_storage_used,
      }
    },
  }
}

const planOf = ({ max_users, max_domains, storage_limit, plan_name }: Plan): Plan => ({
  ...(max_users !== undefined && { max_users }),
  ...(max_domains !== undefined && { max_domains }),
  ...(storage_limit !== undefined && { storage_limit }),
  ...(plan_name !== undefined && { plan_name }),
})

function refuseBelow(what: string, wanted: number | undefined, used: number): void {
  if (wanted !== undefined && wanted < used) throw new errors.PlanBelowUse({ what, used })
}

const shown = (row: resellers.SubOrganizationRow) => ({
  ...row,
  status: row.active ? ('active' as const) : ('inactive' as const),
  plan: {
    max_users: row.max_users,
    max_domains: row.max_domains,
    storage_limit: row.storage_limit,
    plan_name: row.plan_name,
  },
  user_count: row.email_account_count,
  storage_used: row.total_storage_used,
})
