import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { recordCredentialEvent } from '../../hosting/credential-trail.repository.ts'
import type { Slice } from '../../http/paging.ts'
import { midnightOf } from '../../lib/dates.ts'
import { newSmtpSecret } from '../../lib/smtp-secrets.ts'
import { DAY_MS } from '../../lib/time.ts'
import { type CreationNeeds, credentialCreation } from './create-credential.ts'
import { CredentialNotFound } from './smtp-credentials.errors.ts'
import * as credentials from './smtp-credentials.repository.ts'
import * as rules from './smtp-credentials.rules.ts'
import type { CredentialChange } from './smtp-credentials.schemas.ts'

// A change of these fields makes a login in Dovecot's cache stale.
const DECIDES_LOGIN = ['allowed_ips', 'ip_allowlist_enabled', 'expires_at'] as const

type Needs = CreationNeeds & Pick<Core, 'authCache'>

export type SmtpCredentialService = ReturnType<typeof smtpCredentialService>

export function smtpCredentialService(needs: Needs) {
  const { authCache, change, db, now, passwords } = needs

  async function get(caller: Caller, id: string) {
    const credential = await credentials.find(db, caller.scope, id)
    if (!credential) throw new CredentialNotFound()
    return credential
  }

  const flush = ({ username }: { username: string }) => authCache.flush([username])

  /** Runs a change on the locked credential. */
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

  /** Records an event only for a change, but always flushes the cache: a repeat may follow a failed flush. */
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

    create: credentialCreation(needs),

    async update(caller: Caller, id: string, sent: CredentialChange) {
      rules.refuseEmptyChange(sent)
      const fields = rules.fieldsOf(sent, now())
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

    /** A revoked credential stays revoked; the old secret is rejected from the next login on. */
    async rotate(caller: Caller, id: string) {
      await get(caller, id)
      const { secret, prefix } = newSmtpSecret()
      const secret_hash = await passwords.hashSmtpSecret(secret)
      const credential = await changeOne(caller, id, async (before, tx, at) => {
        await recordCredentialEvent(tx, caller, 'rotated', [before], at)
        return credentials.update(tx, id, { secret_hash, prefix }, at)
      })
      return { ...credential, secret, cache_flushed: await flush(credential) }
    },

    revoke: (caller: Caller, id: string) => setActive(caller, id, false),
    enable: (caller: Caller, id: string) => setActive(caller, id, true),

    /** Idempotent: an unknown or another organization's credential counts as deleted. */
    async remove(caller: Caller, id: string) {
      const removed = await change(caller, async (tx) => {
        const credential = await credentials.lock(tx, caller.scope, id)
        if (credential) {
          await recordCredentialEvent(tx, caller, 'deleted', [credential], now())
          await credentials.remove(tx, id)
        }
        return credential
      })
      return {
        existed: removed !== undefined,
        cache_flushed: removed ? await flush(removed) : false,
      }
    },

    /** Events stay readable after the deletion of the credential or its organization. */
    async events(caller: Caller, id: string, limit: number) {
      const events = await credentials.events(db, caller.scope, id, limit)
      if (events.length === 0) await get(caller, id)
      return { events }
    },

    async usage(caller: Caller, id: string, days: number) {
      const { last_used_at } = await get(caller, id)
      const until = now()
      const since = new Date(until.getTime() - days * DAY_MS)
      const counts = await credentials.countByDay(db, id, since)
      const by_status: Record<string, number> = {}
      const byDay = new Map(daysBetween(since, until).map((date) => [date, { ...NOTHING }]))
      for (const { date, status, count } of counts) {
        by_status[status] = (by_status[status] ?? 0) + count
        const day = byDay.get(date)
        if (day && status in day) day[status as keyof typeof day] += count
      }
      return {
        window_days: days,
        since: since.toISOString(),
        total: counts.reduce((sum, { count }) => sum + count, 0),
        delivered: by_status.delivered ?? 0,
        bounced: by_status.bounced ?? 0,
        deferred: by_status.deferred ?? 0,
        rejected: by_status.rejected ?? 0,
        by_status,
        days: Array.from(byDay, ([date, day]) => ({ date, ...day })),
        last_used_at,
      }
    },
  }
}

const NOTHING = { delivered: 0, bounced: 0, deferred: 0, rejected: 0 }

/** The days of a span, in UTC; the first and the last may be in it in part. */
const daysBetween = (since: Date, until: Date): string[] => {
  const first = midnightOf(since).getTime()
  const count = Math.floor((until.getTime() - first) / DAY_MS) + 1
  return Array.from({ length: count }, (_, nth) =>
    new Date(first + nth * DAY_MS).toISOString().slice(0, 10),
  )
}
