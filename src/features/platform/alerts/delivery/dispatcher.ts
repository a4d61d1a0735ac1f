import type { Core } from '../../../../core.ts'
import { type Lease, newLease } from '../../../../jobs/lease.ts'
import { recordDelivery } from '../channels/channels.repository.ts'
import { ATTEMPT_MS, type ChannelSender } from './channel-sender.ts'
import { claim, type DueNotification, finish, postpone } from './delivery.repository.ts'
import { notificationOf } from './notification.ts'

/** Seconds before each retry; after the last one the notification is dropped. */
const RETRY_SECONDS = [10, 30, 60, 300, 900]
// Not renewed: longer than an attempt may take.
const LEASE_SECONDS = (2 * ATTEMPT_MS) / 1000

interface Needs extends Pick<Core, 'db' | 'log' | 'now'> {
  sender: Pick<ChannelSender, 'send'>
}

export type Dispatcher = ReturnType<typeof dispatcher>

/**
 * Sends due notifications to their channels, at least once. A channel gets one at a time, so a channel
 * that hangs delays no other.
 */
export function dispatcher({ db, log, now, sender }: Needs) {
  const underWay = new Map<string, Promise<void>>()

  async function send(due: DueNotification, lease: Lease): Promise<void> {
    const error = await sender.send(due, `alert-${due.id}`, notificationOf(due))
    const pause = RETRY_SECONDS[due.attempts - 1]
    if (error === null || pause === undefined) await finish(db, due.id, lease, error, now())
    else await postpone(db, due.id, lease, error, new Date(now().getTime() + pause * 1000))
    await recordDelivery(db, due.channel_id, error, now())
    if (error !== null) {
      const details = { channel: due.channel_id, attempts: due.attempts, reason: error }
      log.warn(details, 'alert notification failed')
    }
  }

  /** Starts sending due notifications, does not wait for them, and returns their number. */
  async function sendDue(): Promise<number> {
    const lease = newLease(LEASE_SECONDS)
    const claimed = await claim(db, lease, [...underWay.keys()], now())
    for (const due of claimed) {
      const work = send(due, lease)
        .catch((error) => log.error({ err: error }, 'storing an alert outcome failed'))
        .finally(() => underWay.delete(due.channel_id))
      underWay.set(due.channel_id, work)
    }
    return claimed.length
  }

  const settle = async () => {
    await Promise.all(underWay.values())
  }

  return {
    sendDue,
    settle,
    /** Sends until nothing is due. */
    async drain(): Promise<void> {
      while ((await sendDue()) > 0) await settle()
    },
  }
}
