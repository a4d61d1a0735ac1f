import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import type { Slice } from '../../http/paging.ts'
import { hashSmtpSecret, newSmtpSecret } from '../../lib/smtp-secrets.ts'
import { ulid } from '../../lib/ulid.ts'
import type { DomainService } from '../domains/domains.service.ts'
import { recordCredentialEvent } from './smtp-credential-trail.ts'
import {
  CredentialDomainNotFound,
  CredentialNotFound,
  UsernameTaken,
} from './smtp-credentials.errors.ts'
import * as credentials from './smtp-credentials.repository.ts'
import * as rules from './smtp-credentials.rules.ts'
import type { CredentialChange, NewCredential } from './smtp-credentials.schemas.ts'

const NAME_TRIES = 5
// An address alone may have 254 characters, and the actor says more.
const MAX_ATTRIBUTION = 255
const DAY_MS = 24 * 60 * 60 * 1000
// Dovecot may have remembered a login that these no longer allow, or not yet.
const DECIDES_LOGIN = ['allowed_ips', 'ip_allowlist_enabled', 'expires_at'] as const

interface Needs extends Pick<Core, 'authCache' | 'change' | 'db' | 'now'> {
  domains: Pick<DomainService, 'find' | 'lock'>
}

export type SmtpCredentialService = ReturnType<typeof smtpCredentialService>

export function smtpCredentialService({ authCache, change, db, domains, now }: Needs) {
  async function get(caller: Caller, id: string) {
    const credential = await credentials.find(db, caller.scope, id)
    if (!credential) throw new CredentialNotFound()
    return credential
  }

  const flush = ({ username }: { username: string }) => authCache.flush([username])

  /** Changes what is there, and its trail with it. */
  const changeOne = (
    caller: Caller,
    id: string,
    work: (row: credentials.CredentialRow, tx: Tx, at: Date) => Promise<credentials.CredentialRow>,
  ) =>
    change(caller, async (tx) => {
      const before = await credentials.lock(tx, caller.scope, id)
      if (!before) throw new CredentialNotFound()
      return work(before, tx, now())
    })

  /** Nothing is recorded when nothing changes, but the cache is always flushed: to make sure. */
  async function setActive(caller: Caller, id: string, active: boolean) {
    const credential = await changeOne(caller, id, async (before, tx, at) => {
      if (before.active === active) return before
      const event = active ? 'enabled' : 'revoked'
      await recordCredentialEvent(tx, caller, event, [before], at)
      return credentials.update(tx, id, { active }, at)
    })
    return { ...credential, cache_flushed: await flush(credential) }
  }

  return {
    get,

    list: (
      caller: Caller,
      filter: credentials.CredentialFilter & { organization_id?: string },
      sort: Parameters<typeof credentials.list>[3],
      slice: Slice,
    ) => credentials.list(db, narrowed(caller.scope, filter.organization_id), filter, sort, slice),

    /** The secret is in the answer only when it was made here. */
    async create(caller: Caller, sent: NewCredential) {
      const { domain_id, username, password, created_by, ...settings } = sent
      const chosen = username == null ? undefined : rules.readUsername(username)
      if (password != null) rules.checkPassword(password)
      const fields = fieldsOf(settings, now())
      rules.checkAllowlist(fields.ip_allowlist_enabled ?? false, fields.allowed_ips ?? [])
      const domain = await domains.find(db, caller, domain_id)
      if (!domain) throw new CredentialDomainNotFound(domain_id)
      if (chosen !== undefined) rules.checkOwnDomain(chosen, domain.domain)

      const made = password == null ? newSmtpSecret() : undefined
      const row = {
        ...fields,
        domain_id,
        organization_id: domain.organization_id,
        prefix: made?.prefix ?? null,
        secret_hash: await hashSmtpSecret(made?.secret ?? (password as string)),
        created_by: created_by || actorOf(caller).slice(0, MAX_ATTRIBUTION),
      }
      const insert = (login: string) =>
        refusing(
          {
            smtp_credentials_username: () => new UsernameTaken(login),
            addresses_pkey: () => new UsernameTaken(login),
          },
          () =>
            change(caller, async (tx) => {
              // Waits for a deletion of the domain, which would leave this one out of its trail.
              if (!(await domains.lock(tx, caller.scope, domain_id))) {
                throw new CredentialDomainNotFound(domain_id)
              }
              const at = now()
              const stored = { ...row, id: ulid(), username: login }
              const credential = await credentials.insert(tx, stored, at)
              await recordCredentialEvent(tx, caller, 'created', [credential], at)
              return credential
            }),
        )
      const created = await (chosen === undefined
        ? withNewName(domain.domain, insert)
        : insert(chosen))
      return made ? { ...created, secret: made.secret } : created
    },

    async update(caller: Caller, id: string, sent: CredentialChange) {
      rules.refuseEmptyChange(sent)
      const fields = fieldsOf(sent, now())
      const credential = await changeOne(caller, id, async (before, tx, at) => {
        const after = { ...before, ...fields }
        rules.checkAllowlist(after.ip_allowlist_enabled, after.allowed_ips)
        await recordCredentialEvent(tx, caller, 'updated', [before], at, fields)
        return credentials.update(tx, id, fields, at)
      })
      return DECIDES_LOGIN.some((name) => name in fields)
        ? { ...credential, cache_flushed: await flush(credential) }
        : credential
    },

    /** A revoked credential stays revoked; the old secret stops at the next login. */
    async rotate(caller: Caller, id: string) {
      await get(caller, id)
      const { secret, prefix } = newSmtpSecret()
      const secret_hash = await hashSmtpSecret(secret)
      const credential = await changeOne(caller, id, async (before, tx, at) => {
        await recordCredentialEvent(tx, caller, 'rotated', [before], at)
        return credentials.update(tx, id, { secret_hash, prefix }, at)
      })
      return { ...credential, secret, cache_flushed: await flush(credential) }
    },

    revoke: (caller: Caller, id: string) => setActive(caller, id, false),
    enable: (caller: Caller, id: string) => setActive(caller, id, true),

    /** Idempotent: what is not there, or not the caller's, is already absent. */
    async remove(caller: Caller, id: string) {
      const gone = await change(caller, async (tx) => {
        const credential = await credentials.lock(tx, caller.scope, id)
        if (credential) {
          await recordCredentialEvent(tx, caller, 'deleted', [credential], now())
          await credentials.remove(tx, id)
        }
        return credential
      })
      return { existed: gone !== undefined, cache_flushed: gone ? await flush(gone) : false }
    },

    /** Also of a credential, or an organization, that is gone. */
    async events(caller: Caller, id: string, limit: number) {
      const events = await credentials.events(db, caller.scope, id, limit)
      if (events.length === 0) await get(caller, id)
      return { events }
    },

    async usage(caller: Caller, id: string, days: number) {
      const { last_used_at } = await get(caller, id)
      const since = new Date(now().getTime() - days * DAY_MS)
      const counts = await credentials.countByStatus(db, id, since)
      const by_status: Record<string, number> = Object.fromEntries(
        counts.map(({ status, count }) => [status, count]),
      )
      return {
        window_days: days,
        since: since.toISOString(),
        total: counts.reduce((sum, { count }) => sum + count, 0),
        delivered: by_status.delivered ?? 0,
        bounced: by_status.bounced ?? 0,
        deferred: by_status.deferred ?? 0,
        rejected: by_status.rejected ?? 0,
        by_status,
        last_used_at,
      }
    },
  }
}

/** The settings that were sent, as they are stored; what is absent stays absent. */
function fieldsOf({ allowed_ips, expires_at, ...plain }: CredentialChange, now: Date) {
  return {
    ...plain,
    ...(allowed_ips !== undefined && { allowed_ips: rules.readAllowedIps(allowed_ips) }),
    ...(expires_at !== undefined && { expires_at: rules.readExpiry(expires_at, now) }),
  }
}

/** Eight random digits rarely meet; when they do, others are tried. */
async function withNewName<Result>(domain: string, insert: (login: string) => Promise<Result>) {
  for (let tries = 1; ; tries++) {
    try {
      return await insert(rules.newUsername(domain))
    } catch (error) {
      if (!(error instanceof UsernameTaken) || tries === NAME_TRIES) throw error
    }
  }
}
