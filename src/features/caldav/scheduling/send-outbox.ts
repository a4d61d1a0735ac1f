import type { Core } from '../../../core.ts'
import { senderRights } from '../../../hosting/sender-rights.repository.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease, underLease } from '../../../jobs/lease.ts'
import { orAway, outcomeOf, PAUSE_MS } from '../../../mail/delivery-outcome.ts'
import { sendServiceMail } from '../../../mail/service-mail.ts'
import { noteFailure } from './note-failure.ts'
import * as outbox from './outbox.repository.ts'

const AT_ONCE = 4
const LEASE_SECONDS = 30

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
  const at = (ms: number) => new Date(now().getTime() + ms)
  const ageMs = now().getTime() - new Date(message.created_at).getTime()
  const outcome = outcomeOf(await orAway(replyTo(core, message)), { attempts, ageMs })
  if (outcome.kind === 'sent') {
    counts.sent++
    await outbox.finish(db, id, lease)
    return
  }
  const { reason } = outcome
  if (outcome.kind === 'wait') {
    if (outcome.isAway) log.warn({ reason }, 'calendar message not sent, will retry')
    else {
      log.info({ method: message.method, reason }, 'calendar message deferred')
      await outbox.pause(db, message.account_id, at(PAUSE_MS))
    }
    await outbox.postpone(db, id, lease, at(outcome.ms))
    return
  }
  counts.failed++
  log.warn({ method: message.method, reason }, 'calendar message refused')
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
