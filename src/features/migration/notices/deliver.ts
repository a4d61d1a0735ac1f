import type { Core } from '../../../core.ts'
import { periodically } from '../../../lib/periodically.ts'
import { poster } from '../../../outbound/post.ts'
import { envelopeOf, type StoredEvent, signedRequest } from '../../webhooks/delivery/envelope.ts'
import * as notices from './notices.repository.ts'

const LOOK_MS = 1000
const AT_ONCE = 10
const MAX_ATTEMPTS = 8
const FIRST_PAUSE_SECONDS = 5

/** Brings notices to the webhooks of jobs, signed like all webhooks; what keeps failing is dropped. */
export function deliverNotices({ config, db, log, now, outbound }: Core) {
  const { WEBHOOK_TIMEOUT: timeoutSeconds, WEBHOOK_SECRET: secret } = config
  const http = poster({ timeoutSeconds, guard: outbound })

  async function deliver(notice: Awaited<ReturnType<typeof notices.take>>[number]) {
    const { id, url, attempts } = notice
    if (url === null) return notices.remove(db, id)
    const envelope = envelopeOf(notice.envelope as unknown as StoredEvent)
    const { body, headers } = signedRequest(envelope, [secret], now())
    const { error, status } = await http.post(url, headers, body)
    // RFC 9110: 406 is how a receiver of webhooks says that it wants no more of this.
    if (error === null || status === 406 || attempts >= MAX_ATTEMPTS) {
      if (error !== null)
        log.warn({ notice: id, error }, 'the webhook of a migration job was not reached')
      return notices.remove(db, id)
    }
    return notices.postpone(db, id, FIRST_PAUSE_SECONDS * 2 ** (attempts - 1))
  }

  const looking = periodically(
    LOOK_MS,
    async () => {
      for (;;) {
        const due = await notices.take(db, AT_ONCE, timeoutSeconds * 2)
        await Promise.all(due.map(deliver))
        if (due.length === 0) return
      }
    },
    (error) => log.warn({ err: error }, 'notices of migration jobs could not be sent'),
  )
  return {
    async stop() {
      await looking.stop()
      await http.close()
    },
  }
}
