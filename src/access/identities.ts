import type { Core } from '../core.ts'
import { findKey, findSession, slideSessions, touchKeys } from './access.repository.ts'
import type { Identity, SessionKind } from './caller.ts'

const MAX_CACHED = 50_000
const FLUSH_MS = 1000

type Needs = Pick<Core, 'db' | 'now' | 'log'> & { isFresh(): boolean }

export type Identities = ReturnType<typeof identities>

/**
 * Who a key or session token belongs to. Answers from memory while the feed of changes is up, so
 * that a request costs neither a read nor a write; revocations evict through that feed.
 */
export function identities({ db, now, log, isFresh }: Needs) {
  const cache = taggedCache()
  // Raised by every eviction: what was read before one must not be kept after it.
  let generation = 0
  const usedKeys = new Map<string, number>()
  const usedSessions = new Map<string, number>()

  async function load(name: string, read: () => Promise<Identity | undefined>) {
    const before = generation
    const identity = await read()
    if (identity && before === generation && isFresh()) {
      cache.set(name, identity)
    }
    return identity
  }

  const flush = async () => {
    const keys = [...usedKeys]
    const sessions = [...usedSessions]
    usedKeys.clear()
    usedSessions.clear()
    const dates = (entries: [string, number][]) => entries.map(([, time]) => new Date(time))
    const ids = (entries: [string, number][]) => entries.map(([id]) => id)
    try {
      if (keys.length > 0) await touchKeys(db, ids(keys), dates(keys))
      if (sessions.length > 0) await slideSessions(db, ids(sessions), dates(sessions))
    } catch (error) {
      log.warn({ err: error }, 'last use of credentials was not stored')
    }
  }
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()

  return {
    /** The answer from memory, without waiting; undefined when it must be looked up. */
    cachedKey: (keyHash: string): Identity | undefined =>
      isFresh() ? cache.get(keyHash) : undefined,

    lookUpKey: (keyHash: string) => load(keyHash, () => findKey(db, keyHash)),

    /** Undefined when unknown, revoked or over. Another process may have moved the idle expiry. */
    async session(kind: SessionKind, tokenHash: string): Promise<Identity | undefined> {
      const name = `${kind}:${tokenHash}`
      const cached = isFresh() ? cache.get(name) : undefined
      if (cached && isLive(cached, now())) return cached
      const identity = await load(name, () => findSession(db, kind, tokenHash))
      return identity && isLive(identity, now()) ? identity : undefined
    },

    isExpired: ({ expiresAt }: Identity) => expiresAt !== null && expiresAt <= now().getTime(),

    /** Notes that the credential was used; stored once a second for all of them. */
    used(identity: Identity) {
      const time = now().getTime()
      const { session } = identity
      if (!session) usedKeys.set(identity.id, time)
      // Until the second factor a session is short and does not slide.
      else if (session.mfaSatisfied) {
        session.expiresAt = Math.min(time + session.idleMs, session.absoluteExpiry)
        usedSessions.set(session.id, session.expiresAt)
      }
    },

    /** Forgets everybody a change may concern: `subject:<id>`, `session:<id>`, `organization:<id>`. */
    evict(change: string) {
      generation++
      cache.deleteTagged(change)
    },

    evictAll() {
      generation++
      cache.clear()
    },

    flush,

    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}

/** A bounded map whose entries can be dropped by whom they concern, without a walk over all. */
function taggedCache() {
  const entries = new Map<string, Identity>()
  const names = new Map<string, Set<string>>()

  const remove = (name: string) => {
    const identity = entries.get(name)
    if (!identity) return
    entries.delete(name)
    for (const tag of tagsOf(identity)) {
      const tagged = names.get(tag)
      tagged?.delete(name)
      if (tagged?.size === 0) names.delete(tag)
    }
  }
  return {
    get: (name: string) => entries.get(name),
    set(name: string, identity: Identity) {
      remove(name)
      if (entries.size >= MAX_CACHED) remove(entries.keys().next().value as string)
      entries.set(name, identity)
      for (const tag of tagsOf(identity)) {
        const tagged = names.get(tag)
        if (tagged) tagged.add(name)
        else names.set(tag, new Set([name]))
      }
    },
    deleteTagged(tag: string) {
      for (const name of names.get(tag) ?? []) remove(name)
    },
    clear() {
      entries.clear()
      names.clear()
    },
  }
}

const tagsOf = ({ id, session, organizationId }: Identity): string[] => [
  `subject:${id}`,
  ...(session ? [`session:${session.id}`] : []),
  ...(organizationId ? [`organization:${organizationId}`] : []),
]

const isLive = ({ session }: Identity, now: Date): boolean =>
  session !== null && session.expiresAt > now.getTime() && session.absoluteExpiry > now.getTime()
