import type { Core } from '../../../core.ts'
import { slots } from '../../../lib/slots.ts'
import { poster } from '../../../outbound/post.ts'
import { clearFailures, countFailure, deleteFailing, type PushRow } from './push.repository.ts'
import { encryptPush, type PushKeys } from './web-push.ts'

const TIMEOUT_SECONDS = 10
const MAX_FAILURES = 20
const LIFE_SECONDS = 86_400
/** Receivers that hang do not let one organization keep ever more codes waiting. */
const CODES_AT_ONCE = 8

type Receiver = Pick<PushRow, 'id' | 'url' | 'keys'>

export type PushSender = ReturnType<typeof pushSender>

/** Calls the URLs of push subscriptions. Holders choose them, so the outbound guard applies. */
export function pushSender({ db, log, outbound }: Pick<Core, 'db' | 'log' | 'outbound'>) {
  const posting = poster({ timeoutSeconds: TIMEOUT_SECONDS, connections: 4, guard: outbound })
  const codes = slots(CODES_AT_ONCE)
  const sender = {
    async send(row: Receiver, message: object): Promise<void> {
      const text = JSON.stringify(message)
      const keys = row.keys as PushKeys | null
      const body = keys ? encryptPush(text, keys) : text
      const answer = await posting.post(
        row.url,
        {
          'content-type': keys ? 'application/octet-stream' : 'application/json',
          ...(keys && { 'content-encoding': 'aes128gcm' }),
          ttl: String(LIFE_SECONDS),
          urgency: 'normal',
        },
        body,
      )
      if (answer.status >= 200 && answer.status < 300) {
        await clearFailures(db, row.id)
        return
      }
      log.info({ subscription: row.id, error: answer.error }, 'a push message was not delivered')
      await countFailure(db, row.id)
      // RFC 8620 section 7.2.2: the receiver is gone for good.
      await deleteFailing(
        db,
        row.id,
        answer.status === 404 || answer.status === 410 ? 0 : MAX_FAILURES,
      )
    },
    /** Sends the code of a new subscription later. False while too many of the organization are sent. */
    sendCode(row: Receiver & { verification_code: string }, organizationId: string): boolean {
      const release = codes.take(organizationId)
      if (!release) return false
      const { id: pushSubscriptionId, verification_code: verificationCode } = row
      const message = { '@type': 'PushVerification', pushSubscriptionId, verificationCode }
      void sender
        .send(row, message)
        .catch((error) => log.warn({ err: error }, 'push failed'))
        .finally(release)
      return true
    },
    close: () => posting.close(),
  }
  return sender
}
