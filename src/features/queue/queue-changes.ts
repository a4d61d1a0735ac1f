import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { isQueueId, QueueAway, type QueueChange } from '../../mail/mail-queue.ts'
import { QueuedMessageNotFound } from './queue.errors.ts'
import {
  QueueDeleted,
  QueueFlushed,
  QueueHeld,
  QueueMessageFailed,
  QueueReleased,
} from './queue.events.ts'
import { findOwners } from './queue.repository.ts'
import { type Failure, flushEach } from './queue-flush.ts'
import { countByOrganization, type Owner, type OwnerOf } from './queue-owners.ts'

/** The operator, or the user or key of an organization, in the data of an event. */
export function by(caller: Caller): { operator_id?: string; actor?: string } {
  if (caller.kind === 'operator') return { operator_id: caller.id }
  return caller.kind === 'anonymous' ? {} : { actor: actorOf(caller) }
}

interface Changed {
  queue_id?: string
  sender?: string
  count: number
  operator_id?: string
  actor?: string
}

/** Emits the event of a change. A requeued message is tried again, as a flushed one is. */
export async function emitChange(
  emit: Core['events']['emit'],
  tx: Tx,
  action: QueueChange,
  owner: Pick<Owner, 'org_id'> & Partial<Owner>,
  data: Changed,
): Promise<void> {
  if (action === 'requeue') {
    await emit(tx, QueueFlushed, owner, { queue_name: 'all', action, ...data })
  } else {
    const declared = { hold: QueueHeld, release: QueueReleased, delete: QueueDeleted }[action]
    await emit(tx, declared, owner, data)
  }
}

/** Emits one event for each organization whose logins sent the messages. */
export async function emitOfMany(
  emit: Core['events']['emit'],
  tx: Tx,
  action: QueueChange,
  { ids, ownerOf }: { ids: readonly string[]; ownerOf: OwnerOf },
  more: Omit<Changed, 'count'> = {},
): Promise<void> {
  for (const [org_id, count] of countByOrganization(ids, ownerOf)) {
    await emitChange(emit, tx, action, { org_id }, { count, ...more })
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

/** Returns the messages that were changed; mail that was delivered in the meantime is left out. */
export async function changeMany(
  queue: Core['mailQueue'],
  change: QueueChange,
  ids: readonly string[],
): Promise<string[]> {
  const changed = await queue.changeAll(change, ids)
  // Postfix itself tries released mail at its next regular time.
  if (change === 'release') await flushEach(queue, changed, false)
  return changed
}

/** Changes one message. `failed` is called before it throws because Postfix failed. */
export async function changeMessage(
  queue: Core['mailQueue'],
  change: QueueChange,
  queue_id: string,
  failed: (failure: Failure) => Promise<void>,
): Promise<boolean> {
  try {
    const isFound = await queue[change](queue_id)
    // Postfix itself tries released mail at its next regular time.
    if (isFound && change === 'release') await queue.flushOne(queue_id)
    return isFound
  } catch (error) {
    if (error instanceof QueueAway) await failed({ queue_id, error: error.message })
    throw error
  }
}

type Needs = Pick<Core, 'begin' | 'change' | 'db' | 'events' | 'mailQueue'> & { asked: Asked }

/**
 * Changes one message and emits the event. Postfix acts first: acting twice is harmless, a false event
 * is not. A failure is an event too, in a transaction of its own, because the request fails.
 */
export const changer =
  ({ begin, change, db, events, mailQueue, asked }: Needs) =>
  async (caller: Caller, queue_id: string, what: QueueChange, owner: Owner): Promise<void> => {
    await begin(caller)
    const isFound = await asked(() =>
      changeMessage(mailQueue, what, queue_id, (failure) =>
        db
          .transaction()
          .execute((tx) =>
            events.emit(tx, QueueMessageFailed, owner, { ...failure, ...by(caller) }),
          ),
      ),
    )
    if (!isFound) throw new QueuedMessageNotFound()
    const data = { queue_id, count: 1, ...by(caller) }
    await change(caller, (tx) => emitChange(events.emit, tx, what, owner, data))
  }

/** Changes of messages that are named by their ids. */
export function queueChanges(needs: Needs) {
  const { begin, change, db, events, mailQueue, asked } = needs
  const changeFound = changer(needs)

  async function changeOne(caller: Caller, queueId: string, what: QueueChange) {
    if (!isQueueId(queueId)) throw new QueuedMessageNotFound()
    // Read before the change: a released message may leave the queue and the log at once.
    const ownerOf = await findOwners(db, [queueId])
    await changeFound(caller, queueId, what, ownerOf(queueId))
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
    async requeue(caller: Caller, queue_id: string) {
      await changeOne(caller, queue_id, 'requeue')
      return { queue_id, requeued: true as const }
    },
    async delete(caller: Caller, queue_id: string) {
      await changeOne(caller, queue_id, 'delete')
      return { queue_id, deleted: true as const }
    },

    /** Changes up to 1000 messages with one program; unknown ones are named in the answer. */
    async many(caller: Caller, { action, ids }: { action: QueueChange; ids: readonly string[] }) {
      const named = [...new Set(ids)]
      const known = named.filter(isQueueId)
      const ownerOf = await findOwners(db, known)
      if (known.length > 0) await begin(caller)
      const changed =
        known.length === 0 ? [] : await asked(() => changeMany(mailQueue, action, known))
      await change(caller, async (tx) => {
        if (changed.length > 0) {
          await emitOfMany(events.emit, tx, action, { ids: changed, ownerOf }, by(caller))
        }
      })
      const done = new Set(changed)
      return {
        action,
        changed: changed.length,
        not_found: named.filter((id) => !done.has(id)),
      }
    },
  }
}
