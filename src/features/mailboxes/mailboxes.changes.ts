import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { holderAs } from '../../database/addresses.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { ValidationFailed } from '../../errors.ts'
import { addressTaken } from '../../hosting/address-conflicts.ts'
import { refuseErased, refuseHeld } from '../../hosting/held-mailboxes.ts'
import { defaultMailboxQuota } from '../../hosting/quota-configuration.ts'
import type { RateSettings } from '../../hosting/rate-settings.ts'
import { domainOf, type MailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import type { AliasService } from '../aliases/aliases.service.ts'
import type { DomainRow, DomainService } from '../domains/domains.service.ts'
import {
  AllotmentExceeded,
  OrganizationUserLimitReached,
} from '../organizations/organizations.errors.ts'
import { overrideBy, refuseOverridden } from '../organizations/quota-override.ts'
import {
  AccountExternalIdTaken,
  DomainUnavailable,
  EmailAccountExists,
  EmailAccountNotFound,
  type MailboxExists,
  UserLimitReached,
} from './mailboxes.errors.ts'
import * as event from './mailboxes.events.ts'
import * as accounts from './mailboxes.repository.ts'
import { QUOTA_FIELDS, SCRIPT_FIELDS, settingsProblems } from './mailboxes.rules.ts'

export interface MailboxNeeds
  extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now' | 'passwords'> {
  domains: Pick<DomainService, 'allotted' | 'findByName' | 'get' | 'lock'>
  rates: RateSettings
  aliases: Pick<AliasService, 'dropDestination' | 'lockForwarding' | 'refuseLoop'>
}

interface NewMailbox {
  address: MailAddress
  password: string
  fields: accounts.AccountFields
  /** Bytes, for a request without a quota and a domain without a default; 0 if the domain is full. */
  defaultQuota: number
}

interface MailboxChange {
  fields?: accounts.AccountFields
  /** Merged into `storage_quotas`; its other settings do not change. */
  mergedQuotas?: object
  password?: { new: string; mustChange?: string | null; byHolder?: boolean }
  /** For operators: write the quotas and clear the override. */
  force?: boolean
}

interface RemoveOptions {
  fromAliases?: boolean
  erasing?: boolean
}

type ExistsError = typeof EmailAccountExists | typeof MailboxExists

/** Writes mailboxes, for every route that does. */
export const mailboxChanges = (needs: MailboxNeeds) => ({
  add: (caller: Caller, mailbox: NewMailbox, Exists?: ExistsError) =>
    add(needs, caller, mailbox, Exists),
  edit: (caller: Caller, id: string, sent: MailboxChange) => edit(needs, caller, id, sent),
  remove: (caller: Caller, id: string, options?: RemoveOptions) =>
    remove(needs, caller, id, options),
})

/** Hashing is slow, so it comes after every check that needs no lock; the locks then decide. */
async function add(
  needs: MailboxNeeds,
  caller: Caller,
  mailbox: NewMailbox,
  Exists: ExistsError = EmailAccountExists,
) {
  const { change, db, domains, passwords } = needs
  const { address, password, fields } = mailbox
  const email = address.address
  const domain = await domains.findByName(db, caller, address.domain)
  if (!domain?.active) throw new DomainUnavailable(address.domain)
  const conflict = await addressConflict(needs, caller, domain, email, Exists)
  if (conflict) throw conflict
  if (
    fields.external_id &&
    (await accounts.isExternalIdTaken(db, domain.organization_id, fields.external_id))
  ) {
    throw new AccountExternalIdTaken()
  }
  refuseFull(domain)
  const passwordHash = await passwords.hash(password)
  const inUse = async () =>
    (await addressConflict(needs, caller, domain, email, Exists)) ?? new Exists({ email })
  return refusing(
    {
      email_accounts_email_key: inUse,
      addresses_pkey: inUse,
      email_accounts_external_id_key: () => new AccountExternalIdTaken(),
      organizations_max_users: () => new OrganizationUserLimitReached(),
    },
    () => change(caller, (tx) => insert(needs, tx, caller, domain.id, mailbox, passwordHash)),
  )
}

async function insert(
  { domains, events, now, rates }: MailboxNeeds,
  tx: Tx,
  caller: Caller,
  domainId: string,
  { address, fields, defaultQuota }: NewMailbox,
  passwordHash: string,
) {
  // The lock makes concurrent requests count each other's mailboxes.
  const domain = await domains.lock(tx, caller.scope, domainId)
  if (!domain?.active) throw new DomainUnavailable(address.domain)
  refuseFull(domain)
  const left = (await leftToAllot(domains, tx, domain)) ?? Number.POSITIVE_INFINITY
  const usual = defaultMailboxQuota(domain.storage_quotas) ?? defaultQuota
  const storage_quota = fields.storage_quota ?? (usual <= left ? usual : 0)
  if (storage_quota > left) throw new AllotmentExceeded({ what: 'Domain', left })
  const row = await accounts.insert(tx, {
    ...fields,
    storage_quota,
    id: ulid(),
    organization_id: domain.organization_id,
    domain_id: domain.id,
    email: address.address,
    password_hash: passwordHash,
    password_changed_at: now().toISOString(),
  })
  await rates.apply(tx, caller, limitedAs(row), {}, row.rate_limits)
  await events.emit(tx, event.MailboxCreated, eventSubject(row), {
    ...eventData(row),
    domain_id: row.domain_id,
  })
  return row
}

/** Undefined while the address is free. */
async function addressConflict(
  { db }: MailboxNeeds,
  caller: Caller,
  domain: DomainRow,
  email: string,
  Exists: ExistsError,
) {
  const owner = await accounts.findOwner(db, domain, email)
  if (!owner) return undefined
  if (owner.kind !== 'mailbox') return addressTaken(email, holderAs(owner.kind, owner.owner_id))
  const visible = await accounts.find(db, caller.scope, owner.owner_id)
  return new Exists({ email, ...(visible && { existing_id: visible.id }) })
}

async function edit(needs: MailboxNeeds, caller: Caller, id: string, sent: MailboxChange) {
  const { change, db, now, passwords } = needs
  const { password } = sent
  const account = await accounts.find(db, caller.scope, id)
  if (!account) throw new EmailAccountNotFound()
  const passwordFields = password && {
    password_hash: await passwords.hash(password.new),
    must_change_password: password.mustChange != null,
    password_change_reason: password.mustChange ?? null,
    password_changed_at: now().toISOString(),
  }
  const { before, after, sessionsRevoked } = await refusing(
    { email_accounts_external_id_key: () => new AccountExternalIdTaken() },
    () =>
      change(caller, async (tx) => {
        const { before, after } = await writeFields(
          needs,
          tx,
          caller,
          account,
          sent,
          passwordFields,
        )
        const sessionsRevoked =
          password || before.status !== after.status
            ? await needs.access.sessions.revokeAllOf(
                tx,
                'mailbox',
                id,
                password?.byHolder ? caller.session?.id : undefined,
              )
            : 0
        await emitChanges(needs, tx, before, after, sent, sessionsRevoked)
        return { before, after, sessionsRevoked }
      }),
  )
  // Dovecot caches the quota together with the login.
  const isCacheStale =
    password !== undefined ||
    before.status !== after.status ||
    before.storage_quota !== after.storage_quota
  const cacheFlushed = isCacheStale && (await flushLogin(needs, after))
  return { row: after, sessionsRevoked, cacheFlushed }
}

async function writeFields(
  { domains, now, rates }: MailboxNeeds,
  tx: Tx,
  caller: Caller,
  { id, domain_id }: accounts.AccountRow,
  sent: MailboxChange,
  passwordFields: accounts.AccountFields | undefined,
) {
  const { fields = {}, mergedQuotas, force = false } = sent
  // Status and quota are counted in the domain's row. It is locked first, or two edits could deadlock.
  const isCounted = fields.status !== undefined || fields.storage_quota !== undefined
  const domain = isCounted ? await domains.lock(tx, 'platform', domain_id) : undefined
  const before = await accounts.lock(tx, caller.scope, id)
  if (!before) throw new EmailAccountNotFound()
  if (fields.status !== undefined) await refuseErased(tx, [id])
  if (SCRIPT_FIELDS.some((name) => fields[name] !== undefined)) {
    const problems = settingsProblems({ ...before, ...fields }, before.email)
    if (problems.length > 0) throw new ValidationFailed(problems)
  }
  if (hasQuotas(sent)) refuseOverridden(before, caller)
  const quota = fields.storage_quota ?? 0
  if (domain && quota > before.storage_quota) {
    const free = await leftToAllot(domains, tx, domain)
    const left = free === undefined ? quota : free + before.storage_quota
    if (quota > left) throw new AllotmentExceeded({ what: 'Domain', left })
  }
  const after = await accounts.update(
    tx,
    id,
    {
      ...fields,
      ...(mergedQuotas && { storage_quotas: { ...before.storage_quotas, ...mergedQuotas } }),
      ...passwordFields,
      ...(hasQuotas(sent) && overrideBy(caller, force, now())),
    },
    now(),
  )
  await rates.apply(tx, caller, limitedAs(after), before.rate_limits, after.rate_limits)
  return { before, after }
}

const limitedAs = ({ organization_id, email }: accounts.AccountRow) => ({
  type: 'mailbox' as const,
  organizationId: organization_id,
  identifier: email,
  domain: domainOf(email),
})

async function emitChanges(
  { events }: MailboxNeeds,
  tx: Tx,
  before: accounts.AccountRow,
  after: accounts.AccountRow,
  sent: MailboxChange,
  sessionsRevoked: number,
): Promise<void> {
  const { fields = {}, mergedQuotas, password } = sent
  const subject = eventSubject(after)
  const data = eventData(after)
  const updated_fields = [...Object.keys(fields), ...(mergedQuotas ? ['storage_quotas'] : [])]
  if (updated_fields.length > 0) {
    await events.emit(tx, event.MailboxUpdated, subject, { ...data, updated_fields })
  }
  if (hasQuotas(sent)) {
    await events.emit(tx, event.MailboxQuotaChanged, subject, {
      ...data,
      storage_quota: after.storage_quota,
      previous_storage_quota: before.storage_quota,
      quota_override: after.quota_override,
    })
  }
  if (password) {
    await events.emit(tx, event.MailboxPasswordChanged, subject, {
      ...data,
      changed_by: password.byHolder ? 'mailbox_holder' : 'admin',
      sessions_revoked: sessionsRevoked,
      ...(!password.byHolder && { temporary: after.must_change_password }),
    })
  }
  const { status } = after
  if (before.status !== 'active' && status === 'active') {
    await events.emit(tx, event.MailboxActivated, subject, { ...data, status })
  } else if (before.status === 'active' && status !== 'active') {
    await events.emit(tx, event.MailboxSuspended, subject, { ...data, status })
  }
}

/** Returns undefined when the mailbox does not exist or is out of the caller's scope. */
async function remove(
  needs: MailboxNeeds,
  caller: Caller,
  id: string,
  { fromAliases, erasing }: RemoveOptions = {},
) {
  const { access, aliases, change, db, domains, events, now } = needs
  const account = await accounts.find(db, caller.scope, id)
  if (!account) return undefined
  const removed = await change(caller, async (tx) => {
    await aliases.lockForwarding(tx)
    // Locked before the account's row, because the removal updates the counters of the domain.
    await domains.lock(tx, 'platform', account.domain_id)
    if (!erasing) await refuseHeld(tx, { ...account, ids: [id], emails: [account.email] }, now())
    const row = await accounts.remove(tx, caller.scope, id)
    if (!row) return undefined
    await access.twoFactor.reset(tx, { kind: 'mailbox', id })
    const counts = fromAliases && {
      aliases_deleted: await aliases.dropDestination(tx, row.organization_id, row.email),
      messages_deleted: 0,
    }
    // Mail for the address now goes to the catch-all, which may lead back here.
    await aliases.refuseLoop(tx, caller, row.email)
    await events.emit(tx, event.MailboxDeleted, eventSubject(row), {
      ...eventData(row),
      ...counts,
    })
    return { row, aliasesDeleted: counts ? counts.aliases_deleted : 0 }
  })
  if (removed) await flushLogin(needs, removed.row)
  return removed
}

/** Bytes that the domain may still allot to its mailboxes; undefined when it has no limit. */
const leftToAllot = async (
  domains: Pick<DomainService, 'allotted'>,
  tx: Tx,
  { id, max_quota }: DomainRow,
) => (max_quota === 0 ? undefined : Math.max(0, max_quota - (await domains.allotted(tx, id))))

/** Drops the login from Dovecot's cache, and the caller's rights from the caches of all processes. */
async function flushLogin(
  { access, authCache }: MailboxNeeds,
  { email }: accounts.AccountRow,
): Promise<boolean> {
  const flushed = await authCache.flush([email])
  await access.settled()
  return flushed
}

const hasQuotas = ({ fields = {}, mergedQuotas }: MailboxChange): boolean =>
  mergedQuotas !== undefined || QUOTA_FIELDS.some((name) => fields[name] !== undefined)

function refuseFull({ total_email_accounts: count, max_users: limit }: DomainRow): void {
  if (count >= limit) throw new UserLimitReached(limit)
}

const eventSubject = ({ organization_id, email }: accounts.AccountRow) => ({
  org_id: organization_id,
  domain: domainOf(email),
})

const eventData = ({ id, email, organization_id }: accounts.AccountRow) => ({
  account_id: id,
  email,
  organization_id,
})
