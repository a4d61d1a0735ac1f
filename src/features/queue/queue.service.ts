import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { invalidField, Unprocessable } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { isQueueId, type QueuedMessage } from '../../mail/mail-queue.ts'
import { QueuedMessageNotFound } from './queue.errors.ts'
import { QueueFlushed, QueueMessageFailed, QueueReleased } from './queue.events.ts'
import { findOwners } from './queue.repository.ts'
import { askingQueue, by, queueChanges } from './queue-changes.ts'
import { type FlushFilter, flushEach, isEverything, isMeant } from './queue-flush.ts'
import { ownQueue } from './queue-own.ts'
import { countByOrganization } from './queue-owners.ts'
import { queueSelections } from './queue-selections.ts'
import { domainCounts, domainOfRecipient, isTo, queueView, SHOWN } from './queue-view.ts'
import * as samples from './samples/samples.repository.ts'

type Needs = Pick<Core, 'begin' | 'change' | 'db' | 'events' | 'log' | 'mailQueue' | 'now'>

export type QueueService = ReturnType<typeof queueService>

export function queueService({ begin, change, db, events, log, mailQueue, now }: Needs) {
  const asked = askingQueue(log)
  const walk = async (visit: (message: QueuedMessage) => void) => ({
    queue_error: (await asked(() => mailQueue.walk(visit))) ?? null,
  })

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

    /** Any domain with queued mail, hosted here or not. */
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
      const ownerOf = await findOwners(db, ids)
      const release = filter.queue_name === 'hold'
      if (ids.length > 0) await begin(caller)
      const { flushed, failures, remaining } = await asked(async () => {
        if (!isEverything(filter)) return flushEach(mailQueue, ids, release)
        await mailQueue.flush()
        return { flushed: ids, failures: [], remaining: 0 }
      })
      const { domain, queue_id, queue_name = 'all' } = filter
      const named = { ...(domain && { domain }), ...(queue_id && { queue_id }) }
      await change(caller, async (tx) => {
        for (const [org_id, count] of countByOrganization(flushed, ownerOf)) {
          const about = { org_id, domain: domain ?? null }
          const data = { ...named, count, ...by(caller) }
          if (release && count > 0) await events.emit(tx, QueueReleased, about, data)
          await events.emit(tx, QueueFlushed, about, { queue_name, ...data })
        }
        for (const failure of failures) {
          const about = { ...ownerOf(failure.queue_id), domain: domain ?? null }
          await events.emit(tx, QueueMessageFailed, about, { ...failure, ...by(caller) })
        }
      })
      return {
        success: failures.length === 0,
        message: flushed.length === 1 ? '1 message flushed' : `${flushed.length} messages flushed`,
        flushed: flushed.length,
        failed: failures.length,
        remaining,
        filters: { ...filter, queue_name },
      }
    },

    /** Header fields and envelope of one message. */
    async message(queueId: string) {
      const found = isQueueId(queueId) ? await asked(() => mailQueue.headers(queueId)) : undefined
      if (!found) throw new QueuedMessageNotFound()
      return { queue_id: queueId, ...found }
    },

    /** One point for each minute, or for each step of a longer time. */
    async samples(hours: number) {
      return { hours, points: await samples.points(db, hours, now()) }
    },

    ...queueChanges({ begin, change, db, events, mailQueue, asked }),
    ...queueSelections({ begin, change, db, events, mailQueue, now, asked }),
    ...ownQueue({ begin, change, db, events, mailQueue, asked }),
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
