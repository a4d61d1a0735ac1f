import { MINUTE_MS } from '../../lib/time.ts'
import { type MailQueue, QueueAway, type QueuedMessage } from '../../mail/mail-queue.ts'
import { domainOfRecipient } from './queue-view.ts'

const AT_ONCE = 4
/** Each message starts a program; more of them would take longer than the request may. */
const MOST = 1000
const MOST_FAILURES = 10

export interface FlushFilter {
  domain?: string
  queue_name?: 'deferred' | 'hold' | 'all'
  older_than_minutes?: number
  recipient?: string
  queue_id?: string
  force?: boolean
}

/** Held messages were put on hold on purpose; only a request for the hold queue releases them. */
export function isMeant(filter: FlushFilter, message: QueuedMessage, now: Date): boolean {
  const { domain, older_than_minutes: minutes, recipient, queue_id } = filter
  if (message.status !== (filter.queue_name === 'hold' ? 'hold' : 'deferred')) return false
  if (queue_id !== undefined && message.queue_id !== queue_id) return false
  if (minutes !== undefined && message.arrived.getTime() > now.getTime() - minutes * MINUTE_MS)
    return false
  if (domain === undefined && recipient === undefined) return true
  return message.recipients.some(
    ({ address }) =>
      (domain === undefined || domainOfRecipient(address) === domain) &&
      (recipient === undefined || address.toLowerCase() === recipient.toLowerCase()),
  )
}

export const isEverything = ({ queue_name, domain, recipient, ...filter }: FlushFilter): boolean =>
  queue_name !== 'hold' &&
  [domain, recipient, filter.older_than_minutes, filter.queue_id].every((one) => one === undefined)

export interface Failure {
  queue_id: string
  error: string
}

/** Flushes a few messages at a time. Throws when the queue is away, not when a message is. */
export async function flushEach(queue: MailQueue, ids: readonly string[], release: boolean) {
  const waiting = ids.slice(0, MOST)
  const failures: Failure[] = []
  const flushed: string[] = []
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (failures.length >= MOST_FAILURES) return
      try {
        if (release) await queue.release(id)
        await queue.flushOne(id)
        flushed.push(id)
      } catch (error) {
        if (!(error instanceof QueueAway)) throw error
        await queue.probe()
        failures.push({ queue_id: id, error: error.message })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { flushed, failures, remaining: ids.length - flushed.length - failures.length }
}
