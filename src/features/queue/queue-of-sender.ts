import { toDomainName } from '../../lib/domain-name.ts'
import { domainOf } from '../../lib/mail-address.ts'
import type { MailQueue, QueueChange, QueuedMessage, QueueStatus } from '../../mail/mail-queue.ts'

/** Messages that one request changes; a caller that gets `remaining` repeats it. */
export const MOST_CHANGED = 5000

/**
 * Normalizes an envelope sender: an e-mail address, an @ with a domain for all senders there, or
 * MAILER-DAEMON for notices that mail failed. Undefined for a malformed domain.
 */
export function senderNamed(text: string): string | undefined {
  const sender = text.trim().toLowerCase()
  if (!sender.startsWith('@')) return sender === '' ? undefined : sender
  const domain = toDomainName(sender.slice(1))
  return domain === undefined ? undefined : `@${domain}`
}

export const isOf = (wanted: string, sender: string): boolean =>
  wanted.startsWith('@')
    ? `@${domainOf(sender).toLowerCase()}` === wanted
    : sender.toLowerCase() === wanted

/**
 * Only mail on hold can be released, and only other mail can be put on hold. Mail under delivery is
 * not requeued, because it would be sent twice.
 */
const canChange: Record<QueueChange, (status: QueueStatus) => boolean> = {
  hold: (status) => status !== 'hold',
  release: (status) => status === 'hold',
  requeue: (status) => status !== 'active',
  delete: () => true,
}

/** The messages that match and that a change concerns, counted by the state that they are in. */
export async function findWhere(
  queue: MailQueue,
  change: QueueChange,
  matches: (message: QueuedMessage) => boolean,
) {
  const ids: string[] = []
  const summary: Record<QueueStatus, number> = { active: 0, deferred: 0, hold: 0 }
  const queue_error = await queue.walk((message) => {
    if (!canChange[change](message.status) || !matches(message)) return
    ids.push(message.queue_id)
    summary[message.status]++
  })
  return { ids, summary, queue_error: queue_error ?? null }
}

export const findOfSender = (queue: MailQueue, change: QueueChange, sender: string) =>
  findWhere(queue, change, (message) => isOf(sender, message.sender))
