import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { NoDataProvided } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { percent } from '../../lib/percent.ts'
import { forgetLogins } from '../../mail/stale-logins.ts'
import {
  NoQuotaData,
  OrganizationExternalIdTaken,
  OrganizationHasCustomers,
  OrganizationIdTaken,
  OrganizationNotEmpty,
  OrganizationNotFound,
  OrganizationOnHold,
  QuotaBelowUse,
} from './organizations.errors.ts'
import {
  OrganizationActivated,
  OrganizationCreated,
  OrganizationDeleted,
  OrganizationSuspended,
  OrganizationUpdated,
} from './organizations.events.ts'
import * as organizations from './organizations.repository.ts'
import {
  allotment,
  organizationProblems,
  refuseInvalid,
  type Sent,
  writable,
} from './organizations.rules.ts'

const WEBHOOK_SECRET = 'organization webhook secret'

const conflicts = {
  organizations_pkey: () => new OrganizationIdTaken(),
  organizations_external_id_key: () => new OrganizationExternalIdTaken(),
}

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now' | 'vault'>

export type OrganizationService = ReturnType<typeof organizationService>

export function organizationService(needs: Needs) {
  const { access, authCache, change, db, events, now, vault } = needs

  async function get(caller: Caller, id: string) {
    const organization = await organizations.find(db, caller.scope, id)
    if (!organization) throw new OrganizationNotFound()
    return organization
  }

  const fieldsOf = (caller: Caller, sent: Sent) => {
    const secret = sent.webhook_secret
    return {
      ...writable(caller, sent),
      ...(secret === null && { webhook_secret: null }),
      ...(typeof secret === 'string' && { webhook_secret: vault.seal(WEBHOOK_SECRET, secret) }),
    }
  }

  const override = (caller: Caller) => ({
    quota_override: true,
    quota_override_at: now().toISOString(),
    quota_override_by: caller.email,
  })

  /** What it has given to its domains, and to its customers when it is a reseller. */
  const allottedBy = async (tx: Tx, { id, storage_quota }: { id: string; storage_quota: number }) =>
    storage_quota + (await organizations.givenToSubOrganizations(tx, id))

  async function checkAllotment(
    tx: Tx,
    storageQuotas: object,
    before: { id: string; storage_quota: number },
  ): Promise<void> {
    const limit = allotment(storageQuotas)
    if (limit === undefined) return
    const allotted = await allottedBy(tx, before)
    if (limit < allotted) throw new QuotaBelowUse({ allotted })
  }

  return {
    get,

    async list(
      filter: organizations.OrganizationFilter,
      sort: Parameters<typeof organizations.list>[2],
      page: Page,
    ) {
      const { items, total } = await organizations.list(db, filter, sort, page)
      return paginated(items, total, page)
    },

    async getByExternalId(caller: Caller, externalId: string) {
      const found = await organizations.findByExternalId(db, caller.scope, externalId)
      if (!found) throw new OrganizationNotFound()
      return get(caller, found.id)
    },

    async create(caller: Caller, sent: Sent) {
      refuseInvalid(organizationProblems(sent, true))
      const fields = { ...fieldsOf(caller, sent), id: sent.id as string, name: sent.name as string }
      const quotasGiven = sent.storage_quotas !== undefined || sent.rate_limits !== undefined
      return refusing(conflicts, () =>
        change(caller, async (tx) => {
          const created = await organizations.insert(tx, {
            ...fields,
            ...(quotasGiven && override(caller)),
          })
          await events.emit(
            tx,
            OrganizationCreated,
            { org_id: created.id },
            {
              organization_id: created.id,
              name: created.name,
              admin_email: created.admin_email,
            },
          )
          return created
        }),
      )
    },

    /** Suspension reaches keys and sessions at once, in every process. */
    async update(caller: Caller, id: string, sent: Sent) {
      refuseInvalid(organizationProblems(sent, false))
      const fields = fieldsOf(caller, sent)
      const names = Object.keys(fields)
      await get(caller, id)
      if (names.length === 0 && Object.keys(sent).length === 0) throw new NoDataProvided()
      const updated = await refusing(conflicts, () =>
        change(caller, async (tx) => {
          const before = await organizations.lock(tx, caller.scope, id)
          if (!before) throw new OrganizationNotFound()
          if (fields.storage_quotas) await checkAllotment(tx, fields.storage_quotas, before)
          const quotas = fields.storage_quotas !== undefined || fields.rate_limits !== undefined
          const after = await organizations.update(
            tx,
            id,
            { ...fields, ...(quotas && override(caller)) },
            now(),
          )
          const about = { org_id: id }
          const named = { organization_id: id, name: after.name }
          if (names.length > 0) {
            await events.emit(tx, OrganizationUpdated, about, {
              ...named,
              updated_fields: names.filter((name) => name !== 'webhook_secret'),
            })
          }
          if (before.active && !after.active)
            await events.emit(tx, OrganizationSuspended, about, named)
          if (!before.active && after.active)
            await events.emit(tx, OrganizationActivated, about, named)
          return after
        }),
      )
      await access.settled()
      if (fields.active !== undefined) await forgetLogins(db, authCache, { organization: id })
      return updated
    },

    async remove(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        const organization = await organizations.lock(tx, caller.scope, id)
        if (!organization) throw new OrganizationNotFound()
        const { domain_count: domains, email_account_count: accounts, name } = organization
        if (domains > 0 || accounts > 0) throw new OrganizationNotEmpty({ domains, accounts })
        if (await organizations.hasSubOrganizations(tx, id)) throw new OrganizationHasCustomers()
        if (await organizations.isHeld(tx, id, now())) throw new OrganizationOnHold()
        await organizations.remove(tx, id)
        await events.emit(tx, OrganizationDeleted, { org_id: id }, { organization_id: id, name })
      })
      await access.settled()
    },

    async quotas(caller: Caller, id: string) {
      const organization = await get(caller, id)
      const domains = await organizations.domainUse(db, id)
      const { quota_override, quota_override_at, quota_override_by } = organization
      return {
        organization_id: id,
        organization_quotas: organization.storage_quotas,
        total_domains: organization.domain_count,
        total_email_accounts: organization.email_account_count,
        quota_override,
        quota_override_at,
        quota_override_by,
        storage_summary: {
          total_storage_used: organization.total_storage_used,
          total_quota: organization.storage_quota,
          domains: domains.map((row) => ({
            domain: row.domain,
            storage_used: row.total_storage_used,
            quota: row.max_quota,
            usage_percentage: percent(row.total_storage_used, row.max_quota),
            email_accounts: row.total_email_accounts,
            max_users: row.max_users,
          })),
        },
      }
    },

    /** An operator's write is an override: it stands until an operator clears it. */
    async setQuotas(caller: Caller, id: string, sent: Sent) {
      if (sent.storage_quotas === undefined && sent.rate_limits === undefined)
        throw new NoQuotaData()
      const { storage_quotas, rate_limits } = sent
      refuseInvalid(organizationProblems({ storage_quotas, rate_limits }, false))
      return change(caller, async (tx) => {
        const before = await organizations.lock(tx, caller.scope, id)
        if (!before) throw new OrganizationNotFound()
        if (storage_quotas !== undefined) await checkAllotment(tx, storage_quotas as object, before)
        const after = await organizations.update(
          tx,
          id,
          {
            ...(storage_quotas !== undefined && { storage_quotas: storage_quotas as object }),
            ...(rate_limits !== undefined && { rate_limits: rate_limits as object }),
            ...override(caller),
          },
          now(),
        )
        await events.emit(
          tx,
          OrganizationUpdated,
          { org_id: id },
          {
            organization_id: id,
            update_type: 'quotas',
            storage_quotas: after.storage_quotas,
            rate_limits: after.rate_limits,
            quota_override: after.quota_override,
          },
        )
        return after
      })
    },

    /** The values stay; only who has the say changes. */
    async clearOverride(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        if (!(await organizations.lock(tx, caller.scope, id))) throw new OrganizationNotFound()
        await organizations.update(
          tx,
          id,
          { quota_override: false, quota_override_at: null, quota_override_by: null },
          now(),
        )
      })
    },

    /**
     * Bytes the organization may still give to its domains, held until the transaction ends;
     * undefined when nothing bounds it.
     */
    async leftToAllot(tx: Tx, organizationId: string): Promise<number | undefined> {
      const organization = await organizations.lock(tx, 'platform', organizationId)
      const limit = organization && allotment(organization.storage_quotas)
      return organization && limit !== undefined
        ? Math.max(0, limit - (await allottedBy(tx, organization)))
        : undefined
    },
  }
}
