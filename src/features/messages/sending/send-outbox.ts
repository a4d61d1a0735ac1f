import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { keepLease, type Lease, newLease } from '../../../jobs/lease.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { orAway, outcomeOf, PAUSE_MS } from '../../../mail/delivery-outcome.ts'
import { apiOrigin, ORIGIN_HEADER, originKey } from '../../../mail/origin.ts'
import { connectForServices, type ServiceConnection } from '../../../mail/service-mail.ts'
import * as outbox from './outbox.repository.ts'
import { EmailDropped } from './sending.events.ts'

const PER_CONNECTION = 25
const LEASE_SECONDS = 30
const KEPT_MS = 30 * DAY_MS

const NOT_ALLOWED = '550 5.7.1 the organization may not send for this domain any more'
const SUPPRESSED = 'suppressed'

/**
 * Hands the waiting messages of the API over to the mail server. After a crash a message may be handed
 * over a second time, with the same Message-ID: the mail server had it, and the row was not deleted yet.
 */
export const sendOutgoingMail: Chore = {
  name: 'outgoing-mail',
  async round(core) {
    const lease = newLease(LEASE_SECONDS)
    const connections = core.config.SENDING_CONNECTIONS
    const claimedAt = performance.now()
    const claimed = await outbox.claim(core.db, lease, connections * PER_CONNECTION, core.now())
    if (claimed.length === 0) return false
    const kept = keepLease(lease, () => outbox.renew(core.db, lease), { log: core.log, claimedAt })
    const round = newRound(core, lease, claimed, kept.signal)
    try {
      const workers = Math.min(connections, claimed.length)
      // All of them end before the lease is given up.
      const ended = await Promise.allSettled(Array.from({ length: workers }, () => sendSome(round)))
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed) throw failed.reason
    } finally {
      await kept.stop()
    }
    return true
  },
}

interface Round {
  core: Core
  lease: Lease
  lost: AbortSignal
  originKey: string
  /** The messages that no connection has taken yet. */
  left: outbox.Waiting[]
  /** Senders at their limit; their messages wait. */
  paused: Set<string>
  /** The shared ends of messages. */
  parts: Map<string, Promise<Buffer>>
}

const newRound = (
  core: Core,
  lease: Lease,
  claimed: outbox.Waiting[],
  lost: AbortSignal,
): Round => ({
  core,
  lease,
  lost,
  originKey: originKey(core.vault),
  // The database returns them in any order; the first one is taken last.
  left: [...claimed].sort((one, other) => (one.id < other.id ? 1 : -1)),
  paused: new Set(),
  parts: new Map(),
})

/** Sends messages of the round over one connection until none is left. */
async function sendSome(round: Round): Promise<void> {
  let connection: ServiceConnection | undefined
  try {
    for (;;) {
      const message = round.left.pop()
      if (!message || round.lost.aborted) return
      if (connection && !connection.isUsable) connection = undefined
      const reply = await orAway(
        replyTo(round, message, async () => {
          connection ??= await connectForServices(round.core.mailServers)
          return connection
        }),
      )
      await settle(round, message, reply)
    }
  } finally {
    connection?.end()
  }
}

type Connect = () => Promise<ServiceConnection>

const PAUSED = 'paused'

async function replyTo(round: Round, message: outbox.Waiting, connect: Connect): Promise<string> {
  const { id, sender, recipient, part_id, may_send, suppressed } = message
  if (!may_send) return NOT_ALLOWED
  if (suppressed) return SUPPRESSED
  if (round.paused.has(sender)) return PAUSED
  const end = part_id === null ? undefined : await partOf(round, part_id)
  const content = await outbox.contentOf(round.core.db, id)
  const origin = apiOrigin(round.originKey, sender, message.message_id)
  const whole = Buffer.from(`${ORIGIN_HEADER}: ${origin}\r\n${content}`)
  return (await connect()).send({
    sender,
    recipient,
    content: end ? Buffer.concat([whole, end]) : whole,
  })
}

function partOf({ core, parts }: Round, id: string): Promise<Buffer> {
  let part = parts.get(id)
  if (!part) {
    part = outbox.partOf(core.db, id)
    parts.set(id, part)
  }
  return part
}

async function settle(
  round: Round,
  message: outbox.Waiting,
  reply: Parameters<typeof outcomeOf>[0],
): Promise<void> {
  const { core, lease, paused } = round
  const { db, log, now } = core
  const { id, sender, attempts } = message
  const at = (ms: number) => new Date(now().getTime() + ms)
  if (reply === PAUSED) {
    await outbox.release(db, [id], lease, at(PAUSE_MS))
    return
  }
  const ageMs = now().getTime() - new Date(message.created_at).getTime()
  const outcome = outcomeOf(reply, { attempts, ageMs })
  if (outcome.kind === 'sent') {
    await outbox.finish(db, message, lease)
    return
  }
  const { reason } = outcome
  if (outcome.kind === 'refused') {
    log.info({ message_id: message.message_id, reason }, 'message refused')
    await drop(round, message, reason)
    return
  }
  if (outcome.isAway) log.warn({ reason }, 'message not sent, will retry')
  else {
    log.info({ message_id: message.message_id, reason }, 'message deferred')
    paused.add(sender)
    await outbox.pause(db, sender, at(PAUSE_MS))
  }
  await outbox.postpone(db, id, lease, at(outcome.ms), reason)
}

function drop({ core, lease }: Round, message: outbox.Waiting, reason: string): Promise<void> {
  const { id, organization_id, message_id, sender, recipient } = message
  return core.db.transaction().execute(async (tx) => {
    if (!(await outbox.fail(tx, id, lease, reason, core.now()))) return
    await core.events.emit(
      tx,
      EmailDropped,
      { org_id: organization_id, domain: domainOf(sender) },
      { message_id, sender, recipient, reason },
    )
  })
}

/** Removes refused messages that the trace need not know any more, and parts without a message. */
export const forgetOutgoingMail: Job = {
  name: 'messages.forget-refused',
  everySeconds: 3600,
  async run({ db, now }) {
    const before = (ms: number) => new Date(now().getTime() - ms)
    await outbox.forget(db, before(KEPT_MS), before(HOUR_MS))
  },
}
