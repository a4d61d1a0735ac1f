import { domainOf } from '../../lib/mail-address.ts'
import type { QueuedMessage, QueueStatus } from '../../mail/mail-queue.ts'

/** Limits the response; a queue can hold millions of messages. */
export const SHOWN = 1000

export const messageOf = (message: QueuedMessage) => {
  const arrived = message.arrived.toISOString()
  return {
    queue_id: message.queue_id,
    status: message.status,
    sender: message.sender,
    recipients: message.recipients.map(({ address }) => address),
    size: message.size,
    date: arrived,
    arrival_time: arrived,
    reason: message.recipients.find(({ reason }) => reason !== null)?.reason ?? null,
  }
}

export const domainOfRecipient = (address: string): string => domainOf(address).toLowerCase()

export const isTo = (domain: string, { recipients }: QueuedMessage): boolean =>
  recipients.some(({ address }) => domainOfRecipient(address) === domain)

/** Counts all messages and keeps the first ones. */
export function queueView() {
  const counts: Record<QueueStatus, number> = { active: 0, deferred: 0, hold: 0 }
  const messages: ReturnType<typeof messageOf>[] = []
  return {
    messages,
    counts,
    get total() {
      return counts.active + counts.deferred + counts.hold
    },
    add(message: QueuedMessage) {
      counts[message.status]++
      if (messages.length < SHOWN) messages.push(messageOf(message))
    },
  }
}

/** Recipients per domain, most first. */
export function domainCounts() {
  const counts = new Map<string, number>()
  return {
    add({ recipients }: QueuedMessage) {
      for (const { address } of recipients) {
        const domain = domainOfRecipient(address)
        counts.set(domain, (counts.get(domain) ?? 0) + 1)
      }
    },
    top: () =>
      [...counts]
        .map(([domain, count]) => ({ domain, count }))
        .sort((one, other) => other.count - one.count || (one.domain < other.domain ? -1 : 1))
        .slice(0, SHOWN),
  }
}
