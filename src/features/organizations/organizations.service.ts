import { type Caller, isPlatform } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { invalidField, NoDataProvided, notWritable } from '../../errors.ts'
import { type RateSettings, rateSettingProblems } from '../../hosting/rate-settings.ts'
import { allottedToSubOrganizations } from '../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { percent } from '../../lib/percent.ts'
import { forgetLogins } from '../../mail/stale-logins.ts'
import type { UserService } from '../users/users.service.ts'
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
  forbiddenIn,
  organizationProblems,
  refuseInvalid,
  type Sent,
  writable,
} from './organizations.rules.ts'
import { overrideBy } from './quota-override.ts'

const WEBHOOK_SECRET = 'organization webhook secret'

const conflicts = {
  organizations_pkey: () => new OrganizationIdTaken(),
  organizations_external_id_key: () => new OrganizationExternalIdTaken(),
}

interface Needs
  extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now' | 'vault'> {
  users: Pick<UserService, 'inviteOwner'>
  rates: RateSettings
}

type OrganizationSort = Parameters<typeof organizations.list>[2]

export type OrganizationService = ReturnType<typeof organizationService>

export const organizationService = (needs: Needs) => ({
  get: (caller: Caller, id: string) => get(needs, caller, id),
  list: (filter: organizations.OrganizationFilter, sort: OrganizationSort, page: Page) =>
    list(needs, filter, sort, page),
  getByExternalId: (caller: Caller, externalId: string) =>
    getByExternalId(needs, caller, externalId),
  create: (caller: Caller, sent: Sent) => create(needs, caller, sent),
  update: (caller: Caller, id: string, sent: Sent) => update(needs, caller, id, sent),
  remove: (caller: Caller, id: string) => remove(needs, caller, id),
  quotas: (caller: Caller, id: string) => getQuotas(needs, caller, id),
  setQuotas: (caller: Caller, id: string, sent: Sent, force: boolean) =>
    setQuotas(needs, caller, id, sent, force),
  clearOverride: (caller: Caller, id: string) => clearOverride(needs, caller, id),
  leftToAllot,
})

async function get({ db }: Needs, caller: Caller, id: string) {
  const organization = await organizations.find(db, caller.scope, id)
  if (!organization) throw new OrganizationNotFound()
  return organization
}

async function list(
  { db }: Needs,
  filter: organizations.OrganizationFilter,
  sort: OrganizationSort,
  page: Page,
) {
  const { items, total } = await organizations.list(db, filter, sort, page)
  return paginated(items, total, page)
}

async function getByExternalId(needs: Needs, caller: Caller, externalId: string) {
  const match = await organizations.findByExternalId(needs.db, caller.scope, externalId)
  if (!match) throw new OrganizationNotFound()
  return get(needs, caller, match.id)
}

async function create(needs: Needs, caller: Caller, sent: Sent) {
  const { change, events, now, users } = needs
  refuseInvalid(organizationProblems(sent, true))
  const fields = {
    ...fieldsOf(needs, caller, sent),
    id: sent.id as string,
    name: sent.name as string,
  }
  refuseInvalid(rateSettingProblems(fields.rate_limits))
  const hasQuotas = sent.storage_quotas !== undefined || sent.rate_limits !== undefined
  return refusing(conflicts, () =>
    change(caller, async (tx) => {
      const created = await organizations.insert(tx, {
        ...fields,
        ...(hasQuotas && override(caller, now())),
      })
      await applyRates(needs, tx, caller, {}, created)
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
      const { id, admin_email, admin_name } = created
      if (admin_email) await users.inviteOwner(tx, id, admin_email, admin_name)
      return created
    }),
  )
}

/** A suspension applies to keys and sessions at once, in every process. */
async function update(needs: Needs, caller: Caller, id: string, sent: Sent) {
  const { access, authCache, change, db, events, now, users } = needs
  refuseInvalid(organizationProblems(sent, false))
  const fields = fieldsOf(needs, caller, sent)
  const names = Object.keys(fields)
  refuseInvalid(rateSettingProblems(fields.rate_limits))
  const current = await get(needs, caller, id)
  refuseExternalId(caller, sent, current.external_id)
  if (names.length === 0 && Object.keys(sent).length === 0) throw new NoDataProvided()
  const forbidden = forbiddenIn(caller, sent)
  if (names.length === 0 && forbidden.length > 0) throw notWritable(forbidden)
  const updated = await refusing(conflicts, () =>
    change(caller, async (tx) => {
      const before = await organizations.lock(tx, caller.scope, id)
      if (!before) throw new OrganizationNotFound()
      if (fields.storage_quotas) await checkAllotment(tx, fields.storage_quotas, before)
      const hasQuotas = fields.storage_quotas !== undefined || fields.rate_limits !== undefined
      const after = await organizations.update(
        tx,
        id,
        { ...fields, ...(hasQuotas && override(caller, now())) },
        now(),
      )
      await applyRates(needs, tx, caller, before.rate_limits, after)
      const subject = { org_id: id }
      const data = { organization_id: id, name: after.name }
      if (names.length > 0) {
        await events.emit(tx, OrganizationUpdated, subject, {
          ...data,
          updated_fields: names.filter((name) => name !== 'webhook_secret'),
        })
      }
      // An owner may be added by operators and owners only, not with a tenant's key.
      const { admin_email, admin_name } = after
      if (isPlatform(caller) && admin_email && admin_email !== before.admin_email) {
        await users.inviteOwner(tx, id, admin_email, admin_name)
      }
      if (before.active && !after.active)
        await events.emit(tx, OrganizationSuspended, subject, data)
      if (!before.active && after.active)
        await events.emit(tx, OrganizationActivated, subject, data)
      return after
    }),
  )
  await access.settled()
  if (fields.active !== undefined) await forgetLogins(db, authCache, { organization: id })
  return updated
}

async function remove(
  { access, change, events, now }: Needs,
  caller: Caller,
  id: string,
): Promise<void> {
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
}

async function getQuotas(needs: Needs, caller: Caller, id: string) {
  const organization = await get(needs, caller, id)
  const domains = await organizations.domainUse(needs.db, id)
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
}

/** Quotas that an operator writes are an override until an operator clears it, or uses `force`. */
async function setQuotas(needs: Needs, caller: Caller, id: string, sent: Sent, force: boolean) {
  const { change, events, now } = needs
  if (sent.storage_quotas === undefined && sent.rate_limits === undefined) throw new NoQuotaData()
  const { storage_quotas, rate_limits } = sent
  refuseInvalid(organizationProblems({ storage_quotas, rate_limits }, false))
  refuseInvalid(rateSettingProblems(rate_limits))
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
        ...overrideBy(caller, force, now()),
      },
      now(),
    )
    await applyRates(needs, tx, caller, before.rate_limits, after)
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
}

const applyRates = (
  { rates }: Needs,
  tx: Tx,
  caller: Caller,
  before: object,
  { id, rate_limits }: { id: string; rate_limits: object },
) =>
  rates.apply(
    tx,
    caller,
    { type: 'organization', organizationId: id, identifier: id, domain: null },
    before,
    rate_limits,
  )

/** Keeps the quota values; tenants may change them again. */
async function clearOverride({ change, now }: Needs, caller: Caller, id: string): Promise<void> {
  await change(caller, async (tx) => {
    if (!(await organizations.lock(tx, caller.scope, id))) throw new OrganizationNotFound()
    await organizations.update(
      tx,
      id,
      { quota_override: false, quota_override_at: null, quota_override_by: null },
      now(),
    )
  })
}

/**
 * Bytes that the organization may still allot to its domains; undefined when it has no limit.
 * Locks the organization's row until the transaction ends.
 */
async function leftToAllot(tx: Tx, organizationId: string): Promise<number | undefined> {
  const organization = await organizations.lock(tx, 'platform', organizationId)
  const limit = organization && allotment(organization.storage_quotas)
  return organization && limit !== undefined
    ? Math.max(0, limit - (await allottedBy(tx, organization)))
    : undefined
}

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

/** Bytes allotted to its domains and, for a reseller, to its customers. */
const allottedBy = async (tx: Tx, { id, storage_quota }: { id: string; storage_quota: number }) =>
  storage_quota + (await allottedToSubOrganizations(tx, id))

/** Operators give external ids: a conflict would tell a tenant about the organizations of others. */
function refuseExternalId(caller: Caller, sent: Sent, current: string | null): void {
  if (isPlatform(caller) || sent.external_id === undefined || sent.external_id === current) return
  throw invalidField('external_id', 'Only an operator can change the external ID')
}

function fieldsOf({ vault }: Needs, caller: Caller, sent: Sent) {
  const secret = sent.webhook_secret
  return {
    ...writable(caller, sent),
    ...(secret === null && { webhook_secret: null }),
    ...(typeof secret === 'string' && { webhook_secret: vault.seal(WEBHOOK_SECRET, secret) }),
  }
}

const override = (caller: Caller, now: Date) => ({
  quota_override: true,
  quota_override_at: now.toISOString(),
  quota_override_by: caller.email,
})
