import type { Core } from '../core.ts'
import { edgeEnvironment } from '../edge/environment.ts'
import { dkimPublisher } from '../features/domains/dkim/dkim.publisher.ts'
import { markAll } from '../features/shared-mailboxes/acl/acl.repository.ts'
import { endedWithin, forgetLogins } from '../mail/stale-logins.ts'

const LOOK_MS = 1000
const RETRY_MS = 5000
const ENDED_EVERY_MS = 5000

/**
 * Tells the mail servers what they do not ask the database for: keys that sign, and logins to forget.
 * Changes are heard of through the database, whoever made them; what
 * was missed, or could not be told, is found again by comparing everything.
 */
export async function followEdge(core: Core) {
  const publisher = dkimPublisher(core)
  const cache = core.authCache
  const work = new Set<Promise<unknown>>()
  /** When everything is to be compared; 0 while there is no reason to. */
  let compareAt = 0

  const track = (task: Promise<unknown>) => {
    const tracked = task
      .catch((error) => {
        core.log.warn({ err: error }, 'the mail servers are not in step; trying again')
        compareAt ||= Date.now() + RETRY_MS
      })
      .finally(() => work.delete(tracked))
    work.add(tracked)
  }

  const handle: Record<string, (id: string) => Promise<unknown> | undefined> = {
    dkim: (domain) => publisher.publish(domain).then(orAgain(core.signingKeys)),
    login: (name) => cache.flush([name]),
    domain: (domain) => forgetLogins(core.db, cache, { domain }),
    organization: (organization) => forgetLogins(core.db, cache, { organization }),
  }

  async function compareAll(): Promise<void> {
    await publisher.publishAll()
    // Rights on shared mailboxes are a chore of their own.
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
    },
  })

  let edge = edgeEnvironment(core.config.DATA_DIR)
  let lookedForEnded = Date.now()
  const look = () => {
    const now = Date.now()
    // An edge that comes up beside us knows nothing yet.
    const current = edgeEnvironment(core.config.DATA_DIR)
    if (current !== edge) compareAt = now
    edge = current
    if (compareAt !== 0 && now >= compareAt) {
      compareAt = 0
      track(compareAll())
    }
    // A login that Dovecot remembers does not end by itself.
    if (core.doveadm.isConfigured && now - lookedForEnded >= ENDED_EVERY_MS) {
      const seconds = (now - lookedForEnded) / 1000 + 2
      lookedForEnded = now
      track(endedWithin(core.db, seconds).then((names) => cache.flush(names)))
    }
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  look()

  return {
    async stop() {
      clearInterval(timer)
      await feed.close()
      await Promise.all(work)
    },
  }
}

/** What was not published although somebody waits for it is to be tried again. */
const orAgain = (signer: Core['signingKeys']) => (published: boolean) => {
  if (!published && signer.isConfigured) throw new Error('signing keys could not be published')
}
