import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { domainOf, type MailAddress } from '../../lib/mail-address.ts'
import { hashPassword } from '../../lib/passwords.ts'
import { ulid } from '../../lib/ulid.ts'
import type { AliasService } from '../aliases/aliases.service.ts'
import type { DomainRow } from '../domains/domains.repository.ts'
import type { DomainService } from '../domains/domains.service.ts'
import {
  AllotmentExceeded,
  OrganizationUserLimitReached,
} from '../organizations/organizations.errors.ts'
import { defaultMailboxQuota } from '../storage/quota-configuration.ts'
import { refuseErased, refuseKept } from './kept-mailboxes.ts'
import {
  AccountExternalIdTaken,
  AddressInUse,
  DomainUnavailable,
  EmailAccountExists,
  EmailAccountNotFound,
  type MailboxExists,
  UserLimitReached,
} from './mailboxes.errors.ts'
import * as event from './mailboxes.events.ts'
import * as accounts from './mailboxes.repository.ts'
import { QUOTA_FIELDS } from './mailboxes.rules.ts'
import { overrideBy, refuseOverridden } from './quota-override.ts'

export interface MailboxNeeds
  extends Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'allotted' | 'findByName' | 'get' | 'lock'>
  aliases: Pick<AliasService, 'dropDestination' | 'lockForwarding' | 'refuseLoop'>
}

export interface NewMailbox {
  address: MailAddress
  password: string
  fields: accounts.AccountFields
  /** Bytes when none are asked for and the domain names none, as long as it has them. */
  defaultQuota: number
}

export interface MailboxChange {
  fields?: accounts.AccountFields
  /** Put into `storage_quotas`, whose other settings stay as they are. */
  mergedQuotas?: object
  password?: { new: string; mustChange?: string | null; byHolder?: boolean }
  /** Of an operator: write, and let the override go. */
  force?: boolean
}

export type MailboxChanges = ReturnType<typeof mailboxChanges>

/** What happens when a mailbox is written, whichever route asked for it. */
export function mailboxChanges(needs: MailboxNeeds) {
  const { access, aliases, authCache, change, db, domains, events, now } = needs

  /** Bytes the domain may still give to its mailboxes; undefined when nothing bounds it. */
  const leftToAllot = async (tx: Tx, { id, max_quota }: DomainRow) =>
    max_quota === 0 ? undefined : Math.max(0, max_quota - (await domains.allotted(tx, id)))

  /** Passwords and rights that a login cache or another process remembers are forgotten. */
  const forget = async ({ email }: accounts.AccountRow): Promise<boolean> => {
    const flushed = await authCache.flush([email])
    await access.settled()
    return flushed
  }

  /** Undefined while nobody has the address. */
  async function taken(caller: Caller, email: string, Exists: typeof EmailAccountExists) {
    const owner = await accounts.findOwner(db, email)
    if (!owner) return undefined
    if (owner.kind !== 'mailbox') return new AddressInUse({ email, kind: owner.kind })
    const visible = await accounts.find(db, caller.scope, owner.owner_id)
    return new Exists({ email, ...(visible && { existing_id: visible.id }) })
  }

  const conflicts = (caller: Caller, email: string, Exists: typeof EmailAccountExists) => {
    const used = async () => (await taken(caller, email, Exists)) ?? new Exists({ email })
    return {
      email_accounts_email_key: used,
      addresses_pkey: used,
      email_accounts_external_id_key: () => new AccountExternalIdTaken(),
      organizations_max_users: () => new OrganizationUserLimitReached(),
    }
  }

  return {
    /** Hashing is slow, so everything that can be refused without it is; the locks then decide. */
    async add(
      caller: Caller,
      { address, password, fields, defaultQuota }: NewMailbox,
      Exists: typeof EmailAccountExists | typeof MailboxExists = EmailAccountExists,
    ) {
      const email = address.address
      const found = await domains.findByName(db, caller, address.domain)
      if (!found?.active) throw new DomainUnavailable(address.domain)
      const refusal = await taken(caller, email, Exists)
      if (refusal) throw refusal
      if (fields.external_id && (await accounts.isExternalIdTaken(db, fields.external_id))) {
        throw new AccountExternalIdTaken()
      }
      refuseFull(found)
      const password_hash = await hashPassword(password)
      return refusing(conflicts(caller, email, Exists), () =>
        change(caller, async (tx) => {
          // Held to the end: whoever comes second counts the first one too.
          const domain = await domains.lock(tx, caller.scope, found.id)
          if (!domain?.active) throw new DomainUnavailable(address.domain)
          refuseFull(domain)
          const left = (await leftToAllot(tx, domain)) ?? Number.POSITIVE_INFINITY
          const usual = defaultMailboxQuota(domain.storage_quotas) ?? defaultQuota
          const storage_quota = fields.storage_quota ?? (usual <= left ? usual : 0)
          if (storage_quota > left) throw new AllotmentExceeded({ what: 'Domain', left })
          const row = await accounts.insert(tx, {
            ...fields,
            storage_quota,
            id: ulid(),
            organization_id: domain.organization_id,
            domain_id: domain.id,
            email,
            password_hash,
            password_changed_at: now().toISOString(),
          })
          await events.emit(tx, event.MailboxCreated, about(row), {
            ...named(row),
            domain_id: row.domain_id,
          })
          return row
        }),
      )
    },

    async edit(caller: Caller, id: string, sent: MailboxChange) {
      const { fields = {}, mergedQuotas, password, force = false } = sent
      const known = await accounts.find(db, caller.scope, id)
      if (!known) throw new EmailAccountNotFound()
      const quotas = hasQuotas(sent)
      const passwordFields = password && {
        password_hash: await hashPassword(password.new),
        must_change_password: password.mustChange != null,
        password_change_reason: password.mustChange ?? null,
        password_changed_at: now().toISOString(),
      }
      const { before, after, sessionsRevoked } = await refusing(
        { email_accounts_external_id_key: () => new AccountExternalIdTaken() },
        () =>
          change(caller, async (tx) => {
            const wanted = fields.storage_quota ?? 0
            // What is counted in the domain's row locks it first, or two edits could deadlock.
            const isCounted = fields.status !== undefined || fields.storage_quota !== undefined
            const domain = isCounted
              ? await domains.lock(tx, 'platform', known.domain_id)
              : undefined
            const before = await accounts.lock(tx, caller.scope, id)
            if (!before) throw new EmailAccountNotFound()
            if (fields.status !== undefined) await refuseErased(tx, [id])
            if (quotas) refuseOverridden(before, caller)
            if (domain && wanted > before.storage_quota) {
              const free = await leftToAllot(tx, domain)
              const left = free === undefined ? wanted : free + before.storage_quota
              if (wanted > left) throw new AllotmentExceeded({ what: 'Domain', left })
            }
            const after = await accounts.update(
              tx,
              id,
              {
                ...fields,
                ...(mergedQuotas && {
                  storage_quotas: { ...before.storage_quotas, ...mergedQuotas },
                }),
                ...passwordFields,
                ...(quotas && overrideBy(caller, force, now())),
              },
              now(),
            )
            const sessionsRevoked =
              password || before.status !== after.status
                ? await access.sessions.revokeAllOf(
                    tx,
                    'mailbox',
                    id,
                    password?.byHolder ? caller.session?.id : undefined,
                  )
                : 0
            await tell(tx, before, after, sent, sessionsRevoked)
            return { before, after, sessionsRevoked }
          }),
      )
      // Dovecot remembers the quota together with the login.
      const isKnown =
        !password && before.status === after.status && before.storage_quota === after.storage_quota
      const forgotten = isKnown ? undefined : await forget(after)
      return { row: after, sessionsRevoked, cacheFlushed: forgotten ?? false }
    },

    /** Undefined when it is not there, or not the caller's. */
    async remove(
      caller: Caller,
      id: string,
      more: { fromAliases?: boolean; erasing?: boolean } = {},
    ) {
      const known = await accounts.find(db, caller.scope, id)
      if (!known) return undefined
      const gone = await change(caller, async (tx) => {
        await aliases.lockForwarding(tx)
        // Before the account's row: its removal counts in the domain's.
        await domains.lock(tx, 'platform', known.domain_id)
        if (!more.erasing)
          await refuseKept(tx, { ...known, ids: [id], emails: [known.email] }, now())
        const row = await accounts.remove(tx, caller.scope, id)
        if (!row) return undefined
        await access.twoFactor.reset(tx, { kind: 'mailbox', id })
        const counts = more.fromAliases && {
          aliases_deleted: await aliases.dropDestination(tx, row.organization_id, row.email),
          messages_deleted: 0,
        }
        // Its mail now falls to the catch-all, which may lead back here.
        await aliases.refuseLoop(tx, caller, row.email)
        await events.emit(tx, event.MailboxDeleted, about(row), { ...named(row), ...counts })
        return { row, aliasesDeleted: counts ? counts.aliases_deleted : 0 }
      })
      if (gone) await forget(gone.row)
      return gone
    },
  }

  async function tell(
    tx: Tx,
    before: accounts.AccountRow,
    after: accounts.AccountRow,
    sent: MailboxChange,
    sessionsRevoked: number,
  ): Promise<void> {
    const { fields = {}, mergedQuotas, password } = sent
    const who = named(after)
    const updated_fields = [...Object.keys(fields), ...(mergedQuotas ? ['storage_quotas'] : [])]
    if (updated_fields.length > 0) {
      await events.emit(tx, event.MailboxUpdated, about(after), { ...who, updated_fields })
    }
    if (hasQuotas(sent)) {
      await events.emit(tx, event.MailboxQuotaChanged, about(after), {
        ...who,
        storage_quota: after.storage_quota,
        previous_storage_quota: before.storage_quota,
        quota_override: after.quota_override,
      })
    }
    if (password) {
      await events.emit(tx, event.MailboxPasswordChanged, about(after), {
        ...who,
        changed_by: password.byHolder ? 'mailbox_holder' : 'admin',
        sessions_revoked: sessionsRevoked,
        ...(!password.byHolder && { temporary: after.must_change_password }),
      })
    }
    const { status } = after
    if (before.status !== 'active' && status === 'active') {
      await events.emit(tx, event.MailboxActivated, about(after), { ...who, status })
    } else if (before.status === 'active' && status !== 'active') {
      await events.emit(tx, event.MailboxSuspended, about(after), { ...who, status })
    }
  }
}

const hasQuotas = ({ fields = {}, mergedQuotas }: MailboxChange): boolean =>
  mergedQuotas !== undefined || QUOTA_FIELDS.some((name) => fields[name] !== undefined)

function refuseFull({ total_email_accounts: count, max_users: limit }: DomainRow): void {
  if (count >= limit) throw new UserLimitReached(limit)
}

const about = ({ organization_id, email }: accounts.AccountRow) => ({
  org_id: organization_id,
  domain: domainOf(email),
})
const named = ({ id, email, organization_id }: accounts.AccountRow) => ({
  account_id: id,
  email,
  organization_id,
})
