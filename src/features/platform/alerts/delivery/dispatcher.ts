import type { Core } from '../../../../core.ts'
import { noteUse } from '../channels/channels.repository.ts'
import { ATTEMPT_MS, type ChannelSender } from './channel-sender.ts'
import { type DueNotification, finish, postpone, takeDue } from './delivery.repository.ts'
import { notificationOf } from './notification.ts'

/** Seconds before each further attempt; after the last one it is given up. */
const WAITS = [10, 30, 60, 300, 900]
// Longer than an attempt, so that nobody repeats one that is under way.
const LEASE_MS = 2 * ATTEMPT_MS

interface Needs extends Pick<Core, 'db' | 'log' | 'now'> {
  sender: Pick<ChannelSender, 'send'>
}

export type Dispatcher = ReturnType<typeof dispatcher>

/**
 * Tells the channels what waits for them, at least once. A channel is told one thing at a time, and
 * one that hangs keeps nobody else waiting.
 */
export function dispatcher({ db, log, now, sender }: Needs) {
  const underWay = new Map<string, Promise<void>>()

  async function tell(due: DueNotification): Promise<void> {
    const error = await sender.send(due, `alert-${due.id}`, notificationOf(due))
    const wait = WAITS[due.attempts - 1]
    if (error === null || wait === undefined) await finish(db, due.id, error, now())
    else await postpone(db, due.id, error, new Date(now().getTime() + wait * 1000))
    await noteUse(db, due.channel_id, error, now())
    if (error !== null) {
      const about = { channel: due.channel_id, attempts: due.attempts, reason: error }
      log.warn(about, 'an alert channel could not be told')
    }
  }

  /** Begins what is due and does not wait for it; how much that was. */
  async function look(): Promise<number> {
    const time = now()
    const until = new Date(time.getTime() + LEASE_MS)
    const taken = await takeDue(db, [...underWay.keys()], time, until)
    for (const due of taken) {
      const work = tell(due)
        .catch((error) => log.error({ err: error }, 'the outcome of an alert was not stored'))
        .finally(() => underWay.delete(due.channel_id))
      underWay.set(due.channel_id, work)
    }
    return taken.length
  }

  const settle = async () => {
    await Promise.all(underWay.values())
  }

  return {
    look,
    settle,
    /** Everything that is due now, one after the other where it must be. */
    async drain(): Promise<void> {
      while ((await look()) > 0) await settle()
    },
  }
}
