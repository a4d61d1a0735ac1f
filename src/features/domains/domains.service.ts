import { domainToUnicode } from 'node:url'
import { type Caller, isPlatform } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Db, Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { invalidField, NoDataProvided, ValidationFailed } from '../../errors.ts'
import { removeCredentialsOf } from '../../hosting/credential-trail.repository.ts'
import { refuseHeldDomain } from '../../hosting/held-mailboxes.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { percent } from '../../lib/percent.ts'
import { ulid } from '../../lib/ulid.ts'
import { forgetLogins } from '../../mail/stale-logins.ts'
import { AllotmentExceeded, DomainLimitReached } from '../organizations/organizations.errors.ts'
import type { OrganizationService } from '../organizations/organizations.service.ts'
import * as dkimKeys from './dkim/dkim.repository.ts'
import { makeKey, storeSigningKey } from './dkim/signing-key.ts'
import { publicationOf } from './dns-records/publication.ts'
import { dkimName, dkimValue, dnsRecords } from './dns-records.ts'
import {
  DomainAlreadyClaimed,
  DomainExternalIdTaken,
  DomainNotEmpty,
  DomainNotFound,
  DomainReserved,
  OrganizationIdRequired,
} from './domains.errors.ts'
import {
  DomainAdded,
  DomainDeleted,
  DomainUpdated,
  EncryptionKeyGenerated,
  eventData,
  eventSubject,
} from './domains.events.ts'
import {
  applyRates,
  changeFields,
  defaultQuota,
  flushQuota,
  getQuotas,
  mergeQuotas,
  type QuotaNeeds,
  setQuotas,
} from './domains.quotas.ts'
import * as domains from './domains.repository.ts'
import { domainProblems, pick, readDomainName, type Sent } from './domains.rules.ts'
import * as claims from './ownership/ownership.repository.ts'
import { isNameOfHost } from './ownership/ownership.rules.ts'
import { prove } from './ownership/prove.ts'

export type { DomainRow } from './domains.repository.ts'

interface Needs extends QuotaNeeds, Pick<Core, 'access' | 'config' | 'log' | 'vault'> {
  organizations: Pick<OrganizationService, 'get' | 'leftToAllot'>
}

type DomainSort = Parameters<typeof domains.list>[3]

export type DomainService = ReturnType<typeof domainService>

export const domainService = (needs: Needs) => ({
  get: (caller: Caller, id: string) => get(needs, caller, id),
  list: (
    caller: Caller,
    organizationId: string | undefined,
    filter: domains.DomainFilter,
    sort: DomainSort,
    page: Page,
  ) => list(needs, caller, organizationId, filter, sort, page),
  listOfOrganization: (organizationId: string) => listOfOrganization(needs, organizationId),
  detail: (caller: Caller, id: string) => detail(needs, caller, id),
  create: (caller: Caller, sent: Sent) => create(needs, caller, sent),
  update: (caller: Caller, id: string, sent: Sent) => update(needs, caller, id, sent),
  remove: (caller: Caller, id: string) => remove(needs, caller, id),
  quotas: (caller: Caller, id: string) => getQuotas(needs, caller, id),
  setQuotas: (caller: Caller, id: string, sent: Sent, force: boolean) =>
    setQuotas(needs, caller, id, sent, force),
  mergeQuotas: (
    caller: Caller,
    id: string,
    quotas: Parameters<typeof mergeQuotas>[3],
    force: boolean,
  ) => mergeQuotas(needs, caller, id, quotas, force),

  // For features whose rows belong to a domain. Names are in ASCII, as in DNS.
  find: (db: Db, caller: Caller, id: string) => domains.find(db, caller.scope, id),
  findByName: (db: Db, caller: Caller, name: string) => domains.findByName(db, caller.scope, name),
  holdByName: domains.holdByName,
  lock: domains.lock,
  allotted: domains.allotted,
})

async function get({ db }: Needs, caller: Caller, id: string) {
  const row = await domains.find(db, caller.scope, id)
  if (!row) throw new DomainNotFound()
  return withUnicode(row)
}

async function list(
  { db }: Needs,
  caller: Caller,
  organizationId: string | undefined,
  filter: domains.DomainFilter,
  sort: DomainSort,
  page: Page,
) {
  const scope = narrowed(caller.scope, organizationId)
  const { items, total } = await domains.list(db, scope, filter, sort, page)
  return paginated(items.map(withUnicode), total, page)
}

async function listOfOrganization({ db }: Needs, organizationId: string) {
  return (await domains.listOfOrganization(db, organizationId)).map(withUnicode)
}

async function detail(needs: Needs, caller: Caller, id: string) {
  const row = await get(needs, caller, id)
  const [organization, records] = await Promise.all([
    needs.organizations.get({ ...caller, scope: 'platform' }, row.organization_id),
    recordsToPublish(needs, row),
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
}

async function create(needs: Needs, caller: Caller, sent: Sent) {
  const { change, config, db, organizations } = needs
  const read = readDomainName(sent.domain)
  const problems = [...('problem' in read ? [read.problem] : []), ...domainProblems(sent)]
  if (problems.length > 0) throw new ValidationFailed(problems)
  const domain = (read as { name: string }).name
  const organizationId = isPlatform(caller) ? sent.organization_id : caller.organizationId
  if (typeof organizationId !== 'string') throw new OrganizationIdRequired()
  await organizations.get(caller, organizationId)
  if (isNameOfHost(domain, config.SVC_MAIL_HOSTNAME)) throw new DomainReserved(domain)
  await refuseClaimed(db, organizationId, domain)
  const fields = pick(sent) as domains.DomainFields
  const key = fields.dkim_enabled === false ? undefined : await makeKey(needs)

  const conflicts = {
    domains_domain_key: async () =>
      alreadyClaimed(domain, await ownClaim(db, organizationId, domain)),
    domains_external_id_key: () => new DomainExternalIdTaken(),
    organizations_max_domains: () => new DomainLimitReached(),
  }
  const created = await refusing(conflicts, () =>
    change(caller, (tx) => insert(needs, tx, caller, { ...fields, organizationId, domain }, key)),
  )
  return { ...withUnicode(created), ...(await recordsToPublish(needs, created)) }
}

/** Claims of other organizations do not count until one of them is proven. */
async function refuseClaimed(db: Db, organizationId: string, domain: string): Promise<void> {
  const own = await ownClaim(db, organizationId, domain)
  if (own || (await claims.findProven(db, domain))) throw alreadyClaimed(domain, own)
}

const ownClaim = (db: Db, organizationId: string, domain: string) =>
  domains.findByName(db, { organization: organizationId }, domain)

async function insert(
  needs: Needs,
  tx: Tx,
  caller: Caller,
  sent: domains.DomainFields & { organizationId: string; domain: string },
  key: Awaited<ReturnType<typeof makeKey>>,
) {
  const { config, events, organizations } = needs
  const { organizationId, ...fields } = sent
  await claims.lockName(tx, fields.domain)
  await refuseClaimed(tx, organizationId, fields.domain)
  const left = await organizations.leftToAllot(tx, organizationId)
  const max_quota = fields.max_quota ?? (await defaultQuota(tx, organizationId, left))
  if (left !== undefined && (max_quota === 0 || max_quota > left)) {
    throw new AllotmentExceeded({ what: 'Organization', left })
  }
  const row = await domains.insert(tx, {
    ...fields,
    max_quota,
    id: ulid(),
    organization_id: organizationId,
  })
  if (key) await storeSigningKey(needs, tx, row, key)
  await applyRates(needs, tx, caller, {}, row)
  await events.emit(tx, DomainAdded, eventSubject(row), eventData(row))
  if (config.SVC_DOMAIN_OWNERSHIP === 'on') return row
  return (await prove(needs, tx, row, 'setting')) ?? row
}

async function update(needs: Needs, caller: Caller, id: string, sent: Sent) {
  const { access, authCache, change, db, events } = needs
  const problems = domainProblems(sent)
  if (problems.length > 0) throw new ValidationFailed(problems)
  const fields = pick(sent) as domains.DomainFields
  const { max_quota: quotaBefore, dkim_selector: selector } = await get(needs, caller, id)
  if (fields.dkim_selector !== undefined && fields.dkim_selector !== selector) {
    throw invalidField(
      'dkim_selector',
      'A selector belongs to a key: rotate the DKIM key, publish its record and activate it',
    )
  }
  if (Object.keys(sent).length === 0) throw new NoDataProvided()
  // A domain that was created without DKIM has no key yet.
  const needsKey = fields.dkim_enabled === true && !(await dkimKeys.findActive(db, id))
  const key = needsKey ? await makeKey(needs) : undefined
  const updated = await refusing(
    { domains_external_id_key: () => new DomainExternalIdTaken() },
    () =>
      change(caller, async (tx) => {
        const row = await changeFields(needs, tx, caller, id, fields)
        await events.emit(tx, DomainUpdated, eventSubject(row), {
          ...eventData(row),
          updated_fields: Object.keys(fields),
        })
        if (key) await addKey(needs, tx, row, key)
        return row
      }),
  )
  await flushQuota(needs, quotaBefore, updated)
  await access.settled()
  if (fields.active !== undefined) await forgetLogins(db, authCache, { domain: id })
  return withUnicode(updated)
}

async function addKey(
  needs: Needs,
  tx: Tx,
  row: domains.DomainRow,
  key: NonNullable<Awaited<ReturnType<typeof makeKey>>>,
): Promise<void> {
  if (!(await storeSigningKey(needs, tx, row, key))) return
  await needs.events.emit(tx, EncryptionKeyGenerated, eventSubject(row), {
    domain_id: row.id,
    domain: row.domain,
    selector: row.dkim_selector,
    kind: 'dkim',
  })
}

/** Refused while there are mailboxes; aliases, keys and SMTP logins are deleted with the domain. */
async function remove(
  { authCache, change, events, now }: Needs,
  caller: Caller,
  id: string,
): Promise<void> {
  const usernames = await change(caller, async (tx) => {
    const row = await domains.lock(tx, caller.scope, id)
    if (!row) throw new DomainNotFound()
    if (row.total_email_accounts > 0) throw new DomainNotEmpty(row.total_email_accounts)
    await refuseHeldDomain(tx, row, await domains.mailboxIdsOf(tx, id), now())
    const removed = await removeCredentialsOf(tx, caller, row.id, now())
    await domains.remove(tx, id)
    await events.emit(tx, DomainDeleted, eventSubject(row), eventData(row))
    return removed
  })
  await authCache.flush(usernames)
}

async function recordsToPublish(needs: Needs, row: domains.DomainRow) {
  const [key, publication] = await Promise.all([
    dkimKeys.findActive(needs.db, row.id),
    publicationOf(needs, row),
  ])
  const selector = key?.selector ?? row.dkim_selector
  return {
    dkim_record: key ? dkimValue(key.public_key) : null,
    dkim_selector: selector,
    dkim_dns_name: dkimName(row.domain, selector),
    dns_records: dnsRecords(publication),
  }
}

const alreadyClaimed = (domain: string, own: { id: string } | undefined) =>
  new DomainAlreadyClaimed({ domain, ...(own && { existing_id: own.id }) })

/** Domains are stored in ASCII, as in DNS, and returned in Unicode too. */
export const withUnicode = <Row extends { domain: string }>(row: Row) => ({
  ...row,
  domain_unicode: domainToUnicode(row.domain),
})
