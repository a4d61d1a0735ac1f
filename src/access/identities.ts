import type { Core } from '../core.ts'
import { WatchedCache } from '../database/watched-cache.ts'
import { limiter } from '../lib/mutex.ts'
import { findKey, findSession, findToken, slideSessions, touchKeys } from './access.repository.ts'
import type { Identity, SessionKind } from './caller.ts'

const MAX_CACHED = 50_000
const FLUSH_MS = 1000

type Needs = Pick<Core, 'db' | 'now' | 'log'> & { isFresh(): boolean }

export type Identities = ReturnType<typeof identities>

/**
 * Resolves API keys and session tokens. Identities are cached, so that a request costs neither a
 * read nor a write; a revocation evicts them.
 */
export function identities({ db, now, log, isFresh }: Needs) {
  const cache = new WatchedCache<Identity>({ max: MAX_CACHED, isConnected: isFresh, tagsOf })
  const usedKeys = new Map<string, number>()
  const usedSessions = new Map<string, number>()

  const store = async () => {
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
  const inTurn = limiter(1)
  /** Resolves when all uses until now are stored, those that a flush under way has taken too. */
  const flush = () => inTurn(store)
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()

  async function look(
    name: string,
    find: () => Promise<Identity | 'suspended' | undefined>,
  ): Promise<Identity | 'suspended' | undefined> {
    let suspended = false
    const identity = await cache.load(name, async () => {
      const found = await find()
      suspended = found === 'suspended'
      return found === 'suspended' ? undefined : found
    })
    return suspended ? 'suspended' : identity
  }

  return {
    /** Undefined when the key must be looked up. */
    cachedKey: (keyHash: string): Identity | undefined => cache.get(keyHash),

    /** `suspended` when the key is right and its organization is suspended. */
    lookUpKey: (keyHash: string) => look(keyHash, () => findKey(db, keyHash)),

    cachedToken: (tokenHash: string): Identity | undefined => cache.get(`token:${tokenHash}`),
    lookUpToken: (tokenHash: string) => look(`token:${tokenHash}`, () => findToken(db, tokenHash)),

    /** Undefined when unknown, revoked or expired. Another process may have moved the idle expiry. */
    async session(kind: SessionKind, tokenHash: string): Promise<Identity | undefined> {
      const name = `${kind}:${tokenHash}`
      const cached = cache.get(name)
      if (cached && isLive(cached, now())) return cached
      const identity = await cache.load(name, () => findSession(db, kind, tokenHash))
      return identity && isLive(identity, now()) ? identity : undefined
    },

    isExpired: ({ expiresAt }: Identity) => expiresAt !== null && expiresAt <= now().getTime(),

    /** Records a use; all uses are stored once a second. */
    used(identity: Identity) {
      const time = now().getTime()
      const { session } = identity
      if (!session) usedKeys.set(identity.id, time)
      // Before the second factor a session is short and its expiry does not move.
      else if (session.mfaSatisfied) {
        session.expiresAt = Math.min(time + session.idleMs, session.absoluteExpiry)
        usedSessions.set(session.id, session.expiresAt)
      }
    },

    /** Evicts the identities of `subject:<id>`, `session:<id>` or `organization:<id>`. */
    evict: (change: string) => cache.evict(change),

    evictAll: () => cache.evictAll(),

    flush,

    async close() {
      clearInterval(timer)
      await flush()
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
