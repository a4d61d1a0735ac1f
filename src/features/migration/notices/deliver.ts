import type { Core } from '../../../core.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { periodically } from '../../../lib/periodically.ts'
import { poster } from '../../../outbound/post.ts'
import { envelopeOf, type StoredEvent, signedRequest } from '../../webhooks/delivery/envelope.ts'
import * as notices from './notices.repository.ts'

const LOOK_MS = 1000
const AT_ONCE = 10
const MAX_ATTEMPTS = 8
const FIRST_PAUSE_SECONDS = 5

/** Delivers notices to the webhooks of jobs, signed like all webhooks. Drops them after some retries. */
export function deliverNotices({ config, db, log, now, outbound }: Core) {
  const { WEBHOOK_TIMEOUT: timeoutSeconds, WEBHOOK_SECRET: secret } = config
  const http = poster({ timeoutSeconds, guard: outbound })

  async function deliver(notice: notices.Notice, lease: Lease) {
    const { id, url, attempts } = notice
    if (url === null) return notices.remove(db, id, lease)
    const envelope = envelopeOf(notice.envelope as unknown as StoredEvent)
    const { body, headers } = signedRequest(envelope, [secret], now())
    const { error, status } = await http.post(url, headers, body)
    // A receiver returns 406 to refuse a notice for good.
    if (error === null || status === 406 || attempts >= MAX_ATTEMPTS) {
      if (error !== null)
        log.warn({ notice: id, error }, 'webhook delivery of a migration notice failed, dropped')
      return notices.remove(db, id, lease)
    }
    return notices.postpone(db, id, lease, FIRST_PAUSE_SECONDS * 2 ** (attempts - 1))
  }

  async function serve(organizationId: string): Promise<void> {
    for (;;) {
      // Not renewed: longer than an attempt may take.
      const lease = newLease(timeoutSeconds * 2)
      const due = await notices.claim(db, organizationId, lease, AT_ONCE)
      if (due.length === 0) return
      await Promise.all(due.map((notice) => deliver(notice, lease)))
    }
  }

  const failed = (error: unknown) =>
    log.warn({ err: error }, 'delivery of migration notices failed, will retry')
  /** Receivers that hang delay only notices of their own organization. */
  const serving = new Map<string, Promise<void>>()
  const looking = periodically(
    LOOK_MS,
    async () => {
      for (const id of await notices.organizationsDue(db)) {
        if (serving.has(id)) continue
        serving.set(
          id,
          serve(id)
            .catch(failed)
            .finally(() => serving.delete(id)),
        )
      }
    },
    failed,
  )
  return {
    async stop() {
      await looking.stop()
      await Promise.all(serving.values())
      await http.close()
    },
  }
}
