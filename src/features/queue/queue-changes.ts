import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { invalidField, ServiceUnavailable } from '../../errors.ts'
import { isQueueId, QueueAway, type QueueChange } from '../../mail/mail-queue.ts'
import { QueuedMessageNotFound } from './queue.errors.ts'
import { QueueDeleted, QueueHeld, QueueReleased } from './queue.events.ts'
import { findOwners } from './queue.repository.ts'
import { changeOfSender, findOfSender, MOST_CHANGED, senderNamed } from './queue-of-sender.ts'
import { countByOrganization, type OwnerOf } from './queue-owners.ts'

interface SenderRequest {
  sender: string
  action: QueueChange
  dry_run?: boolean
}

export const CHANGED = { hold: QueueHeld, release: QueueReleased, delete: QueueDeleted } as const

export const by = (caller: Caller) => (caller.kind === 'operator' ? { operator_id: caller.id } : {})

/** Emits one event for each organization whose logins sent the messages. */
export async function emitOfSender(
  emit: Core['events']['emit'],
  tx: Tx,
  action: QueueChange,
  { sender, ids, ownerOf }: { sender: string; ids: readonly string[]; ownerOf: OwnerOf },
  more: { operator_id?: string } = {},
): Promise<void> {
  for (const [org_id, count] of countByOrganization(ids, ownerOf)) {
    await emit(tx, CHANGED[action], { org_id }, { sender, count, ...more })
  }
}

type Asked = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Every failure to read the queue gives the caller the same error. */
export const askingQueue =
  (log: Core['log']): Asked =>
  async (work) => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QueueAway)) throw error
      log.warn({ err: error }, 'reading the mail queue failed')
      throw new ServiceUnavailable('Queue service unavailable')
    }
  }

type Needs = Pick<Core, 'begin' | 'change' | 'db' | 'events' | 'mailQueue'> & { asked: Asked }

/** Actions of operators on queued messages. */
export function queueChanges({ begin, change, db, events, mailQueue, asked }: Needs) {
  /** Postfix acts before the event is emitted: acting twice is harmless, a false event is not. */
  async function changeOne(caller: Caller, queueId: string, what: QueueChange) {
    if (!isQueueId(queueId)) throw new QueuedMessageNotFound()
    // Read before the change: a released message may leave the queue and the log at once.
    const ownerOf = await findOwners(db, [queueId])
    await begin(caller)
    const found = await asked(async () => {
      const changed = await mailQueue[what](queueId)
      if (changed && what === 'release') await mailQueue.flushOne(queueId)
      return changed
    })
    if (!found) throw new QueuedMessageNotFound()
    const data = { queue_id: queueId, count: 1, ...by(caller) }
    await change(caller, (tx) => events.emit(tx, CHANGED[what], ownerOf(queueId), data))
  }

  return {
    async hold(caller: Caller, queue_id: string) {
      await changeOne(caller, queue_id, 'hold')
      return { queue_id, status: 'hold' as const }
    },
    async release(caller: Caller, queue_id: string) {
      await changeOne(caller, queue_id, 'release')
      return { queue_id, status: 'active' as const }
    },
    async delete(caller: Caller, queue_id: string) {
      await changeOne(caller, queue_id, 'delete')
      return { queue_id, deleted: true as const }
    },

    async ofSender(caller: Caller, sent: SenderRequest) {
      const { action, dry_run = true } = sent
      const sender = senderNamed(sent.sender)
      if (sender === undefined) {
        throw invalidField('sender', 'Must be an e-mail address, or an @ with a domain')
      }
      const { ids, summary, queue_error } = await asked(() =>
        findOfSender(mailQueue, action, sender),
      )
      const chosen = dry_run ? [] : ids.slice(0, MOST_CHANGED)
      const ownerOf = await findOwners(db, chosen)
      if (chosen.length > 0) await begin(caller)
      const changed = await asked(() => changeOfSender(mailQueue, action, chosen))
      if (!dry_run) {
        await change(caller, async (tx) => {
          if (changed > 0) {
            await emitOfSender(
              events.emit,
              tx,
              action,
              { sender, ids: chosen, ownerOf },
              by(caller),
            )
          }
        })
      }
      return {
        sender,
        action,
        dry_run,
        matched: ids.length,
        summary,
        changed,
        remaining: ids.length - chosen.length,
        queue_error,
      }
    },
  }
}
