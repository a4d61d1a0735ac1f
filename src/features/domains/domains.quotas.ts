import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { ValidationFailed } from '../../errors.ts'
import type { RateSettings } from '../../hosting/rate-settings.ts'
import { percent } from '../../lib/percent.ts'
import {
  AllotmentExceeded,
  NoQuotaData,
  QuotaBelowUse,
} from '../organizations/organizations.errors.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import { overrideBy, refuseOverridden } from '../organizations/quota-override.ts'
import { DomainNotFound } from './domains.errors.ts'
import { DomainUpdated, eventData, eventSubject } from './domains.events.ts'
import * as domains from './domains.repository.ts'
import { domainProblems, pick, QUOTA_FIELDS, type Sent } from './domains.rules.ts'

const GIGABYTE = 1024 ** 3
const DEFAULT_QUOTA = 10 * GIGABYTE
const LEAST_SHARE = GIGABYTE

export interface QuotaNeeds extends Pick<Core, 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  organizations: Pick<OrganizationService, 'leftToAllot'>
  rates: RateSettings
}

export async function getQuotas({ db }: QuotaNeeds, caller: Caller, id: string) {
  const row = await domains.find(db, caller.scope, id)
  if (!row) throw new DomainNotFound()
  const accounts = await domains.accountUse(db, id)
  return {
    domain_id: row.id,
    domain: row.domain,
    max_quota: row.max_quota,
    max_users: row.max_users,
    storage_used: row.total_storage_used,
    usage_percentage: percent(row.total_storage_used, row.max_quota),
    account_usage_percentage: percent(row.total_email_accounts, row.max_users),
    rate_limits: row.rate_limits,
    storage_quotas: row.storage_quotas,
    quota_override: row.quota_override,
    quota_override_at: row.quota_override_at,
    quota_override_by: row.quota_override_by,
    email_accounts: accounts.map((account) => ({
      ...account,
      usage_percentage: percent(account.storage_used, account.storage_quota),
    })),
  }
}

export async function setQuotas(
  needs: QuotaNeeds,
  caller: Caller,
  id: string,
  sent: Sent,
  force: boolean,
) {
  const fields = pick(sent, QUOTA_FIELDS) as domains.DomainFields
  if (Object.keys(fields).length === 0) throw new NoQuotaData()
  const problems = domainProblems(fields as Sent)
  if (problems.length > 0) throw new ValidationFailed(problems)
  const { row } = await writeQuotas(needs, caller, id, () => fields, force)
  const { max_quota, max_users, rate_limits, storage_quotas, quota_override } = row
  return { domain_id: row.id, max_quota, max_users, rate_limits, storage_quotas, quota_override }
}

/** Keeps the settings of `storage_quotas` that are not among `settings`. */
export const mergeQuotas = (
  needs: QuotaNeeds,
  caller: Caller,
  id: string,
  { max_quota, settings }: { max_quota?: number; settings: object },
  force: boolean,
) =>
  writeQuotas(
    needs,
    caller,
    id,
    (before) => ({
      ...(max_quota !== undefined && { max_quota }),
      storage_quotas: { ...before.storage_quotas, ...settings },
    }),
    force,
  )

async function writeQuotas(
  needs: QuotaNeeds,
  caller: Caller,
  id: string,
  fieldsOf: (before: domains.DomainRow) => domains.DomainFields,
  force: boolean,
) {
  const { before, row } = await needs.change(caller, async (tx) => {
    const before = await domains.lock(tx, caller.scope, id)
    if (!before) throw new DomainNotFound()
    const row = await changeFields(needs, tx, caller, id, fieldsOf(before), force)
    const { max_quota, max_users } = row
    await needs.events.emit(tx, DomainUpdated, eventSubject(row), {
      ...eventData(row),
      update_type: 'quotas',
      max_quota,
      max_users,
    })
    return { before, row }
  })
  return { row, cacheFlushed: await flushQuota(needs, before.max_quota, row) }
}

/** Writes fields of a domain; quotas among them are checked and may set or clear the override. */
export async function changeFields(
  needs: QuotaNeeds,
  tx: Tx,
  caller: Caller,
  id: string,
  fields: domains.DomainFields,
  force = false,
) {
  const before = await domains.lock(tx, caller.scope, id)
  if (!before) throw new DomainNotFound()
  const hasQuotas = QUOTA_FIELDS.some((name) => fields[name] !== undefined)
  if (hasQuotas) refuseOverridden(before, caller)
  if (fields.max_quota !== undefined) await checkQuota(needs, tx, before, fields.max_quota)
  const now = needs.now()
  const override = hasQuotas && overrideBy(caller, force, now)
  const after = await domains.update(tx, id, { ...fields, ...override }, now)
  await applyRates(needs, tx, caller, before.rate_limits, after)
  return after
}

export const applyRates = (
  { rates }: Pick<QuotaNeeds, 'rates'>,
  tx: Tx,
  caller: Caller,
  before: object,
  { organization_id, domain, rate_limits }: domains.DomainRow,
) =>
  rates.apply(
    tx,
    caller,
    { type: 'domain', organizationId: organization_id, identifier: domain, domain },
    before,
    rate_limits,
  )

/** The quota must cover the mailboxes of the domain and fit into the organization's. */
async function checkQuota(
  { organizations }: QuotaNeeds,
  tx: Tx,
  row: domains.DomainRow,
  quota: number,
): Promise<void> {
  const allotted = await domains.allotted(tx, row.id)
  if (quota !== 0 && quota < allotted) throw new QuotaBelowUse({ allotted })
  const left = await organizations.leftToAllot(tx, row.organization_id)
  if (left === undefined) return
  const available = left + row.max_quota
  if (quota === 0 || quota > available)
    throw new AllotmentExceeded({ what: 'Organization', left: available })
}

/** Dovecot caches quotas. The domain's quota applies to mailboxes that have none of their own. */
export async function flushQuota(
  { authCache, db }: QuotaNeeds,
  before: number,
  after: domains.DomainRow,
): Promise<boolean> {
  if (before === after.max_quota) return true
  const addresses = await domains.addressesWithQuotaOf(db, after.id)
  return addresses.length === 0 || authCache.flush(addresses)
}

/**
 * An equal share of what is left for each domain of the plan, so that the first one does not take
 * all of it, but no less than one gigabyte while there is that much.
 */
export async function defaultQuota(
  tx: Tx,
  organizationId: string,
  left: number | undefined,
): Promise<number> {
  if (left === undefined) return DEFAULT_QUOTA
  const free = (await domains.countFree(tx, organizationId)) ?? 1
  const share = Math.floor(left / Math.max(1, free))
  return Math.min(DEFAULT_QUOTA, left, Math.max(share, LEAST_SHARE))
}
