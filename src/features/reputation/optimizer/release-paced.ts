import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { QueueAway, type QueuedMessage } from '../../../mail/mail-queue.ts'
import { envelopeOf, runningSchedule } from './admission.ts'
import { limitFor } from './isp-limits.ts'
import * as limits from './limits.repository.ts'
import { overLimit, overStep } from './obstacles.ts'
import * as paced from './paced-mail.repository.ts'

const BATCH = 500

/**
 * Releases mail that waited for a limit, oldest first, when the limit allows it. Every step can be
 * repeated: a killed process leaves its claimed mail to the next round.
 */
export const releasePaced: Chore = {
  name: 'optimizer.release-paced',
  async round(core) {
    await paced.settle(core.db, core.now())
    try {
      for (const mail of await paced.leftReleasing(core.db, BATCH)) await letGo(core, mail)
      await clearUp(core)
      await releaseAllowed(core)
    } catch (error) {
      if (!(error instanceof QueueAway)) throw error
      core.log.warn({ err: error }, 'paced mail waits: the mail queue does not answer')
    }
    return false
  },
}

async function releaseAllowed(core: Core): Promise<void> {
  const exhausted = new Set<string>()
  const scopesOf = ({ ip_address, organization_id, recipient_domain }: paced.PacedMail) => [
    ip_address ?? '-',
    `${organization_id} ${recipient_domain}`,
  ]
  for (const mail of await paced.waiting(core.db, BATCH)) {
    if (scopesOf(mail).some((scope) => exhausted.has(scope))) continue
    const obstacle = await claim(core, mail)
    if (obstacle === undefined) await letGo(core, mail)
    else if (obstacle !== 'taken') {
      const [ip, destination] = scopesOf(mail) as [string, string]
      exhausted.add(obstacle === 'warm_up' ? ip : destination)
    }
  }
}

/** Claims waiting mail if its limits allow it now; otherwise returns the reason. */
const claim = (
  { config, db, now }: Core,
  mail: paced.PacedMail,
): Promise<paced.PacingReason | 'taken' | undefined> =>
  db.transaction().execute(async (tx) => {
    const { id, ip_address, organization_id: organization, recipient_domain: domain } = mail
    const schedule = await runningSchedule(tx, organization, now())
    await paced.lockScope(tx, ip_address ?? organization)
    // A schedule that was deleted, completed or moved to another address limits nothing.
    if (schedule && schedule.ip_address === ip_address) {
      const obstacle = await overStep(tx, schedule, domain, now())
      if (obstacle) {
        await paced.setReason(tx, id, obstacle.kind)
        return obstacle.kind
      }
    }
    if (config.DELIVERY_OPTIMIZER_ENABLED) {
      const limit = limitFor(domain, await limits.limitsOf(tx, limits.namesFor(domain)))
      const counts = await limits.sent(tx, organization, domain, now())
      const obstacle = overLimit(domain, counts, limit, now())
      if (obstacle) {
        await paced.setReason(tx, id, obstacle.kind)
        return obstacle.kind
      }
    }
    if (!(await paced.claim(tx, id))) return 'taken'
    if (config.DELIVERY_OPTIMIZER_ENABLED) await limits.count(tx, organization, domain, now())
    return undefined
  })

/** A message that is not on hold any more was released or deleted already. */
async function letGo({ db, mailQueue }: Core, mail: paced.PacedMail): Promise<void> {
  const { queue_id } = mail
  if (queue_id !== null && (await mailQueue.release(queue_id))) await mailQueue.flushOne(queue_id)
  await paced.released(db, mail)
}

/**
 * Finds messages whose queue id was lost because a process was killed, and forgets messages that
 * left the queue without a result, such as those that an operator deleted.
 */
async function clearUp({ db, mailQueue }: Core): Promise<void> {
  const rows = await paced.unclear(db, BATCH)
  if (rows.length === 0) return
  const present = new Set<string>()
  const held = new Map<string, string[]>()
  const wanted = new Set(rows.filter((row) => row.queue_id === null).map((row) => row.envelope))
  const problem = await mailQueue.walk((message: QueuedMessage) => {
    present.add(message.queue_id)
    if (message.status !== 'hold' || wanted.size === 0) return
    const recipients = message.recipients.map(({ address }) => address)
    const envelope = envelopeOf(message.sender, recipients)
    if (!wanted.has(envelope)) return
    held.set(envelope, [...(held.get(envelope) ?? []), message.queue_id])
  })
  // A message that an incomplete list leaves out may be there.
  if (problem !== undefined) throw new QueueAway(problem)
  const known = await paced.known(db, [...held.values()].flat())
  for (const { id, envelope, state, queue_id } of rows) {
    const found =
      queue_id === null && state === 'waiting'
        ? takeFirst(held.get(envelope), known)
        : queue_id !== null && present.has(queue_id)
          ? queue_id
          : undefined
    if (found === undefined) await paced.remove(db, id)
    else await paced.seen(db, id, found)
  }
}

/** The first of these queue ids that belongs to no other mail. */
function takeFirst(queueIds: string[] | undefined, known: Set<string>): string | undefined {
  const found = queueIds?.find((one) => !known.has(one))
  if (found !== undefined) known.add(found)
  return found
}
