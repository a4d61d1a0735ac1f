import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { invalidField, ServiceUnavailable, Unprocessable } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { isQueueId, QueueAway, type QueuedMessage } from '../../mail/mail-queue.ts'
import { QueuedMessageNotFound } from './queue.errors.ts'
import { QueueFlushed, QueueHeld, QueueMessageFailed, QueueReleased } from './queue.events.ts'
import { type FlushFilter, flushEach, isEverything, isMeant } from './queue-flush.ts'
import { domainCounts, domainOfRecipient, isTo, queueView, SHOWN } from './queue-view.ts'

type Needs = Pick<Core, 'change' | 'events' | 'log' | 'mailQueue' | 'now'>

export type QueueService = ReturnType<typeof queueService>

export function queueService({ change, events, log, mailQueue, now }: Needs) {
  /** Whatever keeps the queue from being asked, the caller is told the same. */
  async function asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QueueAway)) throw error
      log.warn({ err: error }, 'the mail queue could not be asked')
      throw new ServiceUnavailable('Queue service unavailable')
    }
  }
  const walk = async (visit: (message: QueuedMessage) => void) => ({
    queue_error: (await asked(() => mailQueue.walk(visit))) ?? null,
  })
  const by = (caller: Caller) => (caller.kind === 'operator' ? { operator_id: caller.id } : {})

  /** Postfix is asked first: doing it twice harms nobody, telling what never happened would. */
  async function changeOne(caller: Caller, queueId: string, what: 'hold' | 'release') {
    if (!isQueueId(queueId)) throw new QueuedMessageNotFound()
    const found = await asked(async () => {
      const changed = await mailQueue[what](queueId)
      if (changed && what === 'release') await mailQueue.flushOne(queueId)
      return changed
    })
    if (!found) throw new QueuedMessageNotFound()
    const data = { queue_id: queueId, count: 1, ...by(caller) }
    await change(caller, (tx) =>
      events.emit(tx, what === 'hold' ? QueueHeld : QueueReleased, { org_id: null }, data),
    )
    return { queue_id: queueId, status: what === 'hold' ? 'hold' : 'active' } as const
  }

  return {
    async status() {
      const view = queueView()
      const domains = domainCounts()
      const { queue_error } = await walk((message) => {
        view.add(message)
        domains.add(message)
      })
      const { counts, messages, total } = view
      return {
        total_messages: total,
        summary: counts,
        messages,
        total,
        ...counts,
        by_domain: domains.top(),
        queue_error,
      }
    },

    async deferred() {
      const view = queueView()
      const { queue_error } = await walk((message) => {
        if (message.status === 'deferred') view.add(message)
      })
      return { messages: view.messages, total: view.total, queue_error }
    },

    /** Any domain that mail may wait for, also one that is not hosted here. */
    async ofDomain(sent: string) {
      const domain = domainNamed(sent)
      const view = queueView()
      const { queue_error } = await walk((message) => {
        if (isTo(domain, message)) view.add(message)
      })
      const { counts, messages, total } = view
      return { domain, total, ...counts, messages, queue_error }
    },

    async jobs(sent: string) {
      const domain = domainNamed(sent)
      const jobs: object[] = []
      let total = 0
      const { queue_error } = await walk(({ queue_id, status, sender, size, ...message }) => {
        for (const { address, reason } of message.recipients) {
          if (domainOfRecipient(address) !== domain) continue
          total++
          if (jobs.length >= SHOWN) continue
          const arrival_time = message.arrived.toISOString()
          jobs.push({ queue_id, status, sender, recipient: address, size, arrival_time, reason })
        }
      })
      return { domain, jobs: jobs as never[], total, queue_error }
    },

    async health() {
      await asked(() => mailQueue.probe())
      return { status: 'healthy' as const, service: 'queue' as const }
    },

    async flush(caller: Caller, sent: FlushFilter) {
      const filter = checked(sent)
      const ids: string[] = []
      await walk((message) => {
        if (isMeant(filter, message, now())) ids.push(message.queue_id)
      })
      const release = filter.queue_name === 'hold'
      const { flushed, failures, remaining } = await asked(async () => {
        if (!isEverything(filter)) return flushEach(mailQueue, ids, release)
        await mailQueue.flush()
        return { flushed: ids.length, failures: [], remaining: 0 }
      })
      const { domain, queue_id, queue_name = 'all' } = filter
      const named = { ...(domain && { domain }), ...(queue_id && { queue_id }) }
      const about = { org_id: null, domain: domain ?? null }
      const data = { ...named, count: flushed, ...by(caller) }
      await change(caller, async (tx) => {
        if (release && flushed > 0) await events.emit(tx, QueueReleased, about, data)
        await events.emit(tx, QueueFlushed, about, { queue_name, ...data })
        for (const failure of failures) {
          await events.emit(tx, QueueMessageFailed, about, { ...failure, ...by(caller) })
        }
      })
      return {
        success: failures.length === 0,
        message: flushed === 1 ? '1 message flushed' : `${flushed} messages flushed`,
        flushed,
        failed: failures.length,
        remaining,
        filters: { ...filter, queue_name },
      }
    },

    hold: (caller: Caller, queueId: string) => changeOne(caller, queueId, 'hold'),
    release: (caller: Caller, queueId: string) => changeOne(caller, queueId, 'release'),
  }
}

function domainNamed(sent: string): string {
  const domain = toDomainName(sent)
  if (!domain) throw new Unprocessable('domain must be a domain name')
  return domain
}

function checked(sent: FlushFilter): FlushFilter {
  if (sent.queue_id !== undefined && !isQueueId(sent.queue_id)) {
    throw invalidField('queue_id', 'Must be a queue id: 6 to 20 letters and digits')
  }
  if (sent.domain === undefined) return sent
  const domain = toDomainName(sent.domain)
  if (!domain) throw invalidField('domain', 'Must be a domain name')
  return { ...sent, domain }
}
