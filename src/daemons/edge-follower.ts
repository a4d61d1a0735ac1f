import type { Core } from '../core.ts'
import { dkimPublisher } from '../features/domains/dkim/dkim.publisher.ts'
import { markAll } from '../features/shared-mailboxes/acl/acl.repository.ts'
import { certificateServing } from '../features/ssl/serving/serving.ts'
import { afterOutage } from '../mail/after-outage.ts'
import { persistentCache } from '../mail/auth-cache.ts'
import { endedSince, forgetLogins } from '../mail/stale-logins.ts'

const LOOK_MS = 1000
const RETRY_MS = 5000
const ENDED_EVERY_MS = 5000

/**
 * Pushes to the mail servers what they do not read from the database: signing keys, certificates,
 * and cached logins to forget. NOTIFY announces changes; missed or failed ones are found by
 * comparing everything.
 */
export async function followEdge(core: Core) {
  const publisher = dkimPublisher(core)
  const serving = certificateServing(core)
  const cache = persistentCache(core.authCache, core.doveadm)
  const work = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  /** The time of the next full comparison; 0 when none is needed. */
  let compareAt = 0
  /** Many certificates may change at once; Dovecot reloads once for all of them. */
  let areCertificatesDue = false
  /** An embedded database starts and ends with the server; another one was away if the feed broke. */
  let wasAway = core.config.DATABASE_URL === undefined

  const track = (task: Promise<unknown>) => {
    const tracked = task
      .catch((error) => {
        core.log.warn({ err: error }, 'updating the mail servers failed, will retry')
        compareAt ||= Date.now() + RETRY_MS
      })
      .finally(() => work.delete(tracked))
    work.add(tracked)
  }

  const handle: Record<string, (id: string) => Promise<unknown> | undefined> = {
    dkim: (domain) => publisher.publish(domain).then(orAgain(core.signingKeys)),
    login: (name) => cache.flush([name]),
    domain(domain) {
      areCertificatesDue = true
      return forgetLogins(core.db, cache, { domain })
    },
    organization(organization) {
      areCertificatesDue = true
      return forgetLogins(core.db, cache, { organization })
    },
    certificate() {
      areCertificatesDue = true
      return undefined
    },
  }

  async function compareAll(): Promise<void> {
    await publisher.publishAll()
    await serving.publishAll()
    // A chore of its own writes the rights on shared mailboxes.
    await markAll(core.db)
    if (core.doveadm.isConfigured) await forgetLogins(core.db, cache, 'inactive')
  }

  const feed = await core.listen('mailplane_edge', {
    message(payload) {
      const [kind = '', ...id] = payload.split(':')
      const task = handle[kind]?.(id.join(':'))
      if (task) track(task)
    },
    subscribed() {
      compareAt = Date.now()
      track(afterOutage(core, wasAway, stopping.signal))
      wasAway = true
    },
  })

  // An edge that has just started has no keys yet.
  const removeListener = core.mailServers.onChange(() => {
    compareAt = Date.now()
  })
  /** By the clock of the database: a look that was late or failed leaves no time out. */
  let lookedForEnded: string | undefined
  let lookForEndedAt = 0
  const forgetEnded = async () => {
    const { names, lookedAt } = await endedSince(core.db, lookedForEnded)
    lookedForEnded = lookedAt
    // Also without names: what Dovecot has not confirmed is flushed again.
    await cache.flush(names)
  }
  const look = () => {
    const now = Date.now()
    if (compareAt !== 0 && now >= compareAt) {
      compareAt = 0
      track(compareAll())
    }
    if (areCertificatesDue) {
      areCertificatesDue = false
      track(serving.publishAll())
    }
    // Dovecot does not expire a cached login when the credential expires.
    if (core.doveadm.isConfigured && now >= lookForEndedAt) {
      lookForEndedAt = now + ENDED_EVERY_MS
      track(forgetEnded())
    }
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  look()

  return {
    async stop() {
      stopping.abort()
      removeListener()
      clearInterval(timer)
      await feed.close()
      await Promise.all(work)
    },
  }
}

/** Throws when keys were not published although a signer is configured, so that it is retried. */
const orAgain = (signer: Core['signingKeys']) => (published: boolean) => {
  if (!published && signer.isConfigured) throw new Error('signing keys could not be published')
}
