import type { Core } from '../../../core.ts'
import { senderRights } from '../../../hosting/sender-rights.repository.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease, underLease } from '../../../jobs/lease.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { MailServerAway, sendServiceMail } from '../../../mail/service-mail.ts'
import { noteFailure } from './note-failure.ts'
import * as outbox from './outbox.repository.ts'

const AT_ONCE = 4
const LEASE_SECONDS = 30
/** The waits after refusals that are not final; the last one is repeated. */
const WAITS_MS = [2000, 10_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS]
/** The other messages of the sender wait this long: most refusals are limits for each second. */
const PAUSE_MS = 2000
const AWAY_MS = 5000
/** Like Postfix, which gives up after five days. */
const MAX_AGE_MS = 120 * HOUR_MS

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'mailServers' | 'now' | 'workers'>

/** Counts of this process. */
export interface SendCounts {
  sent: number
  failed: number
}

/** Hands the waiting messages of calendars over to the mail server. */
export const sendCalendarMail = (counts: SendCounts): Chore => ({
  name: 'calendar-mail',
  async round(core) {
    const lease = newLease(LEASE_SECONDS)
    const claimed = await outbox.claim(core.db, lease, AT_ONCE, core.now())
    await Promise.all(
      claimed.map((one) =>
        underLease(core, 'calendar_mail', { id: one.id }, lease, () =>
          send(core, one, lease, counts),
        ),
      ),
    )
    return claimed.length > 0
  },
})

async function send(
  core: Needs,
  message: outbox.Waiting,
  lease: Lease,
  counts: SendCounts,
): Promise<void> {
  const { db, log, now } = core
  const { id, attempts } = message
  const wait = (ms: number) => outbox.postpone(db, id, lease, new Date(now().getTime() + ms))
  const age = now().getTime() - new Date(message.created_at).getTime()
  const reply = await replyTo(core, message).catch((error) => {
    if (!(error instanceof MailServerAway)) throw error
    return error
  })
  if (reply instanceof MailServerAway && age < MAX_AGE_MS) {
    log.warn({ err: reply }, 'calendar message not sent, will retry')
    await wait(AWAY_MS)
    return
  }
  if (typeof reply === 'string' && reply.startsWith('2')) {
    counts.sent++
    await outbox.finish(db, id, lease)
    return
  }
  if (typeof reply === 'string' && reply.startsWith('4') && age < MAX_AGE_MS) {
    log.info({ method: message.method, reason: reply.slice(0, 500) }, 'calendar message deferred')
    await outbox.pause(db, message.account_id, new Date(now().getTime() + PAUSE_MS))
    await wait(WAITS_MS[Math.min(attempts, WAITS_MS.length - 1)] as number)
    return
  }
  counts.failed++
  const reason = typeof reply === 'string' ? reply : reply.message
  log.warn({ method: message.method, reason: reason.slice(0, 500) }, 'calendar message refused')
  await noteFailure(core, message)
  await outbox.finish(db, id, lease)
}

/** The reply of the mail server. The rights of the holder may have changed since. */
async function replyTo({ db, mailServers }: Needs, message: outbox.Waiting): Promise<string> {
  const { account_id, sender, recipient, content } = message
  const login = await outbox.loginOf(db, account_id)
  const [right] = login === undefined ? [] : await senderRights(db, login, [sender])
  if (login === undefined || !right) return '550 5.7.1 the mailbox may not send as this address'
  return sendServiceMail(mailServers, {
    sender: right.on_behalf ? login : sender,
    recipient,
    content: Buffer.from(content),
  })
}
