import { domainToUnicode } from 'node:url'
import { type Caller, isPlatform } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Db, Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { NoDataProvided, ValidationFailed } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { percent } from '../../lib/percent.ts'
import { ulid } from '../../lib/ulid.ts'
import { forgetLogins } from '../../mail/stale-logins.ts'
import {
  AllotmentExceeded,
  DomainLimitReached,
  NoQuotaData,
  QuotaBelowUse,
  QuotaOverridden,
} from '../organizations/organizations.errors.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import { removeCredentialsOf } from '../smtp-credentials/smtp-credential-trail.ts'
import * as dkimKeys from './dkim/dkim.repository.ts'
import { DKIM_KEY_BITS, DKIM_PURPOSE, newDkimKey } from './dkim/dkim-key.ts'
import { dkimName, dkimValue, dnsRecords } from './dns-records.ts'
import {
  DomainAlreadyClaimed,
  DomainExternalIdTaken,
  DomainNotEmpty,
  DomainNotFound,
  OrganizationIdRequired,
} from './domains.errors.ts'
import { DomainAdded, DomainDeleted, DomainUpdated } from './domains.events.ts'
import * as domains from './domains.repository.ts'
import { domainProblems, pick, QUOTA_FIELDS, readDomainName, type Sent } from './domains.rules.ts'

const DEFAULT_QUOTA = 10 * 1024 ** 3

interface Needs
  extends Pick<
    Core,
    'access' | 'authCache' | 'change' | 'config' | 'db' | 'events' | 'log' | 'now' | 'vault'
  > {
  organizations: Pick<OrganizationService, 'get' | 'leftToAllot'>
}

export type DomainService = ReturnType<typeof domainService>

export function domainService(needs: Needs) {
  const { access, authCache, change, config, db, events, log, now, organizations, vault } = needs

  async function get(caller: Caller, id: string) {
    const row = await domains.find(db, caller.scope, id)
    if (!row) throw new DomainNotFound()
    return shown(row)
  }

  /** The records to publish, with the key that signs; built anew on each read. */
  async function published(row: domains.DomainRow) {
    const key = await dkimKeys.findActive(db, row.id)
    const selector = key?.selector ?? row.dkim_selector
    return {
      dkim_record: key ? dkimValue(key.public_key) : null,
      dkim_selector: selector,
      dkim_dns_name: dkimName(row.domain, selector),
      dns_records: dnsRecords(
        row.domain,
        config.SVC_MAIL_HOSTNAME,
        row.dkim_enabled ? key : undefined,
      ),
    }
  }

  /** A domain without a key still works; it can be given one later. */
  async function makeKey() {
    try {
      return await newDkimKey()
    } catch (error) {
      log.error({ err: error }, 'no DKIM key could be made')
      return undefined
    }
  }

  const overridden = (caller: Caller, force: boolean) =>
    caller.kind === 'operator' && !force
      ? {
          quota_override: true,
          quota_override_at: now().toISOString(),
          quota_override_by: caller.email,
        }
      : { quota_override: false, quota_override_at: null, quota_override_by: null }

  /** An operator's word on quotas stands until an operator takes it back. */
  function refuseOverridden(row: domains.DomainRow, caller: Caller): void {
    if (row.quota_override && caller.kind !== 'operator') {
      throw new QuotaOverridden({ by: row.quota_override_by, at: row.quota_override_at })
    }
  }

  /** The new bound must hold what the mailboxes were given, and fit into what the organization has. */
  async function checkQuota(tx: Tx, row: domains.DomainRow, quota: number): Promise<void> {
    const allotted = await domains.allotted(tx, row.id)
    if (quota !== 0 && quota < allotted) throw new QuotaBelowUse({ allotted })
    const left = await organizations.leftToAllot(tx, row.organization_id)
    if (left === undefined) return
    const available = left + row.max_quota
    if (quota === 0 || quota > available)
      throw new AllotmentExceeded({ what: 'Organization', left: available })
  }

  async function changeFields(
    tx: Tx,
    caller: Caller,
    id: string,
    fields: domains.DomainFields,
    force = false,
  ) {
    const before = await domains.lock(tx, caller.scope, id)
    if (!before) throw new DomainNotFound()
    const quotas = QUOTA_FIELDS.some((name) => fields[name] !== undefined)
    if (quotas) refuseOverridden(before, caller)
    if (fields.max_quota !== undefined) await checkQuota(tx, before, fields.max_quota)
    return domains.update(tx, id, { ...fields, ...(quotas && overridden(caller, force)) }, now())
  }

  /** Dovecot remembers quotas too; the domain's is that of its mailboxes without one of their own. */
  async function forgetQuota(before: number, after: domains.DomainRow): Promise<boolean> {
    if (before === after.max_quota) return true
    const addresses = await domains.addressesWithQuotaOf(db, after.id)
    return addresses.length === 0 || authCache.flush(addresses)
  }

  async function writeQuotas(
    caller: Caller,
    id: string,
    fieldsOf: (before: domains.DomainRow) => domains.DomainFields,
    force: boolean,
  ) {
    const { before, row } = await change(caller, async (tx) => {
      const before = await domains.lock(tx, caller.scope, id)
      if (!before) throw new DomainNotFound()
      const row = await changeFields(tx, caller, id, fieldsOf(before), force)
      const { max_quota, max_users } = row
      await events.emit(tx, DomainUpdated, about(row), {
        ...named(row),
        update_type: 'quotas',
        max_quota,
        max_users,
      })
      return { before, row }
    })
    return { row, cacheFlushed: await forgetQuota(before.max_quota, row) }
  }

  const about = (row: { organization_id: string; domain: string }) => ({
    org_id: row.organization_id,
    domain: row.domain,
  })
  const named = (row: domains.DomainRow) => ({
    domain_id: row.id,
    domain: row.domain,
    organization_id: row.organization_id,
  })

  return {
    get,

    async list(
      caller: Caller,
      organizationId: string | undefined,
      filter: domains.DomainFilter,
      sort: Parameters<typeof domains.list>[3],
      page: Page,
    ) {
      const scope = narrowed(caller.scope, organizationId)
      const { items, total } = await domains.list(db, scope, filter, sort, page)
      return paginated(items.map(shown), total, page)
    },

    async listOfOrganization(organizationId: string) {
      return (await domains.listOfOrganization(db, organizationId)).map(shown)
    },

    async detail(caller: Caller, id: string) {
      const row = await get(caller, id)
      const [organization, records] = await Promise.all([
        organizations.get({ ...caller, scope: 'platform' }, row.organization_id),
        published(row),
      ])
      return {
        ...row,
        ...records,
        organization,
        email_account_count: row.total_email_accounts,
        usage_statistics: {
          account_usage_percentage: percent(row.total_email_accounts, row.max_users),
          storage_usage_percentage: percent(row.total_storage_used, row.max_quota),
          total_account_storage: row.total_storage_used,
        },
      }
    },

    async create(caller: Caller, sent: Sent) {
      const read = readDomainName(sent.domain)
      const problems = [...('problem' in read ? [read.problem] : []), ...domainProblems(sent)]
      if (problems.length > 0) throw new ValidationFailed(problems)
      const domain = (read as { name: string }).name
      const organizationId = isPlatform(caller) ? sent.organization_id : caller.organizationId
      if (typeof organizationId !== 'string') throw new OrganizationIdRequired()
      await organizations.get(caller, organizationId)
      const taken = await domains.findByName(db, 'platform', domain)
      if (taken) throw claimed(taken, organizationId)
      const fields = pick(sent) as domains.DomainFields
      const key = fields.dkim_enabled === false ? undefined : await makeKey()

      const created = await refusing(
        {
          domains_domain_key: async () =>
            claimed(
              (await domains.findByName(db, 'platform', domain)) as domains.DomainRow,
              organizationId,
            ),
          domains_external_id_key: () => new DomainExternalIdTaken(),
          organizations_max_domains: () => new DomainLimitReached(),
        },
        () =>
          change(caller, async (tx) => {
            const left = await organizations.leftToAllot(tx, organizationId)
            const max_quota = fields.max_quota ?? Math.min(DEFAULT_QUOTA, left ?? DEFAULT_QUOTA)
            if (left !== undefined && (max_quota === 0 || max_quota > left)) {
              throw new AllotmentExceeded({ what: 'Organization', left })
            }
            const row = await domains.insert(tx, {
              ...fields,
              max_quota,
              id: ulid(),
              organization_id: organizationId,
              domain,
            })
            if (key) {
              await dkimKeys.insert(tx, {
                id: ulid(),
                domain_id: row.id,
                selector: row.dkim_selector,
                key_size: DKIM_KEY_BITS,
                public_key: key.publicKey,
                private_key: vault.seal(DKIM_PURPOSE, key.privateKey),
                active: true,
              })
            }
            await events.emit(tx, DomainAdded, about(row), named(row))
            return row
          }),
      )
      return { ...shown(created), ...(await published(created)) }
    },

    async update(caller: Caller, id: string, sent: Sent) {
      const problems = domainProblems(sent)
      if (problems.length > 0) throw new ValidationFailed(problems)
      const fields = pick(sent) as domains.DomainFields
      const { max_quota: before } = await get(caller, id)
      if (Object.keys(sent).length === 0) throw new NoDataProvided()
      const updated = await refusing(
        { domains_external_id_key: () => new DomainExternalIdTaken() },
        () =>
          change(caller, async (tx) => {
            const row = await changeFields(tx, caller, id, fields)
            await events.emit(tx, DomainUpdated, about(row), {
              ...named(row),
              updated_fields: Object.keys(fields),
            })
            return row
          }),
      )
      await forgetQuota(before, updated)
      await access.settled()
      if (fields.active !== undefined) await forgetLogins(db, authCache, { domain: id })
      return shown(updated)
    },

    /** Refused while there are mailboxes; aliases, keys and SMTP logins go with the domain. */
    async remove(caller: Caller, id: string) {
      const usernames = await change(caller, async (tx) => {
        const row = await domains.lock(tx, caller.scope, id)
        if (!row) throw new DomainNotFound()
        if (row.total_email_accounts > 0) throw new DomainNotEmpty(row.total_email_accounts)
        const gone = await removeCredentialsOf(tx, caller, row.id, now())
        await domains.remove(tx, id)
        await events.emit(tx, DomainDeleted, about(row), named(row))
        return gone
      })
      await authCache.flush(usernames)
    },

    async quotas(caller: Caller, id: string) {
      const row = await get(caller, id)
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
    },

    async setQuotas(caller: Caller, id: string, sent: Sent, force: boolean) {
      const fields = pick(sent, QUOTA_FIELDS) as domains.DomainFields
      if (Object.keys(fields).length === 0) throw new NoQuotaData()
      const problems = domainProblems(fields as Sent)
      if (problems.length > 0) throw new ValidationFailed(problems)
      const { row } = await writeQuotas(caller, id, () => fields, force)
      const { max_quota, max_users, rate_limits, storage_quotas, quota_override } = row
      return {
        domain_id: row.id,
        max_quota,
        max_users,
        rate_limits,
        storage_quotas,
        quota_override,
      }
    },

    /** The same; settings in `storage_quotas` that are not named stay as they are. */
    mergeQuotas: (
      caller: Caller,
      id: string,
      { max_quota, settings }: { max_quota?: number; settings: object },
      force: boolean,
    ) =>
      writeQuotas(
        caller,
        id,
        (before) => ({
          ...(max_quota !== undefined && { max_quota }),
          storage_quotas: { ...before.storage_quotas, ...settings },
        }),
        force,
      ),

    /** For features whose rows hang on a domain: the caller's own, by its id. */
    find: (on: Db, caller: Caller, id: string) => domains.find(on, caller.scope, id),
    /** The same by its name, as DNS writes it. */
    findByName: (on: Db, caller: Caller, name: string) =>
      domains.findByName(on, caller.scope, name),
    holdByName: domains.holdByName,
    lock: domains.lock,
    allotted: domains.allotted,
    published,
  }
}

const claimed = (row: domains.DomainRow, organizationId: string) =>
  new DomainAlreadyClaimed({
    domain: row.domain,
    ...(row.organization_id === organizationId && { existing_id: row.id }),
  })

/**
 * Stored as DNS writes it; shown both ways. Added to the row itself: copies of the rows of a page would
 * cost as much as reading them.
 */
export const shown = <Row extends { domain: string }>(row: Row) =>
  Object.assign(row, { domain_unicode: domainToUnicode(row.domain) })
