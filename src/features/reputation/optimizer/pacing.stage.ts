import { setTimeout as sleep } from 'node:timers/promises'
import type { Mail, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { type Admitted, admit, runningSchedule } from './admission.ts'
import { hasSeveralSenders, hostedAmong } from './hosted.repository.ts'
import { setQueueId } from './paced-mail.repository.ts'

// The upper limit of the delay: a sender does not wait much longer for a reply.
const LONGEST_WAIT_MS = 10_000

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'>

/**
 * Limits the rate of outbound mail for each destination and for IP addresses in warm-up. Mail above
 * a limit is accepted and waits on hold in the queue. If the check fails, and where several hosts have
 * a queue, mail passes.
 */
export function pacingStage(core: Needs): Stage {
  const { config, db, log, now } = core

  const isPaced = async (organizationId: string): Promise<boolean> =>
    config.DELIVERY_OPTIMIZER_ENABLED ||
    (await runningSchedule(db, organizationId, now())) !== undefined

  /** Recipients outside of this host by domain; an address literal has no domain. */
  async function destinationsOf(recipients: readonly string[]): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>()
    for (const recipient of recipients) {
      const domain = toDomainName(domainOf(recipient))
      if (domain !== undefined) found.set(domain, [...(found.get(domain) ?? []), recipient])
    }
    for (const name of await hostedAmong(db, [...found.keys()])) found.delete(name)
    return found
  }

  return {
    name: 'pacing',
    async apply(mail) {
      const passed = { kind: 'pass', mails: [mail] } as const
      if (mail.direction !== 'outbound') return passed
      try {
        if (!(await isPaced(mail.organizationId)) || (await hasSeveralSenders(db))) return passed
        const destinations = await destinationsOf(mail.recipients)
        if (destinations.size === 0) return passed
        const { organizationId, sender } = mail
        const admitted = await admit(core, { organizationId, sender, destinations })
        if (admitted.delayMs > 0) await sleep(Math.min(admitted.delayMs, LONGEST_WAIT_MS))
        return { kind: 'pass', mails: split(core, mail, destinations, admitted) }
      } catch (error) {
        log.warn({ err: error }, 'pacing failed, mail passes without a limit')
        return passed
      }
    },
  }
}

/** One message for all that is delivered now, and one for each destination that waits. */
function split(
  { db }: Pick<Core, 'db'>,
  mail: Mail,
  destinations: ReadonlyMap<string, readonly string[]>,
  { passing, held }: Admitted,
): Mail[] {
  const outside = new Set([...destinations.values()].flat())
  const now = new Set(passing.recipients)
  const recipients = mail.recipients.filter((one) => now.has(one) || !outside.has(one))
  const noted = (ids: readonly string[]) =>
    ids.length === 0
      ? {}
      : {
          queued: async (queueId: string) => {
            await setQueueId(db, ids, queueId)
          },
        }
  return [
    ...(recipients.length > 0 ? [{ ...mail, recipients, ...noted(passing.ids) }] : []),
    ...held.map((piece) => ({
      ...mail,
      recipients: piece.recipients,
      isHeld: true,
      ...noted([piece.id]),
    })),
  ]
}
