import type { Config } from '../../config/index.ts'
import type { Db } from '../../database/database.ts'
import { events } from '../../events/events.ts'
import { insertCommand } from '../../http/audit.repository.ts'
import { isQueueId, type MailQueue, type QueueChange } from '../../mail/mail-queue.ts'
import { webhookQueue } from '../webhooks/delivery/enqueue.ts'
import { QueueMessageFailed } from './queue.events.ts'
import { findOwners } from './queue.repository.ts'
import { changeMany, changeMessage, emitChange, emitOfMany } from './queue-changes.ts'
import { findOfSender, MOST_CHANGED } from './queue-of-sender.ts'

interface Command {
  config: Config
  queue: MailQueue
  change: QueueChange
  reason: string
}

const ACTIONS = {
  hold: 'hold_queued_message',
  release: 'release_queued_message',
  requeue: 'requeue_queued_message',
  delete: 'delete_queued_message',
} as const

/** Changes one message, with the event and the audit row of an operator's request. */
export async function changeByCommand(db: Db, command: Command, queue_id: string) {
  const { config, queue, change, reason } = command
  if (!isQueueId(queue_id)) return false
  const ownerOf = await findOwners(db, [queue_id])
  const audit = (tx: Db, status_code: number) =>
    insertCommand(
      tx,
      {
        action: ACTIONS[change],
        target_type: 'queue_id',
        target_id: queue_id,
        request_body: { reason },
        status_code,
      },
      new Date(),
    )
  await audit(db, 202)
  const { emit } = events([webhookQueue(config)])
  const isFound = await changeMessage(queue, change, queue_id, (failure) =>
    db.transaction().execute(async (tx) => {
      await emit(tx, QueueMessageFailed, ownerOf(queue_id), failure)
      await audit(tx, 503)
    }),
  )
  if (!isFound) {
    await audit(db, 404)
    return false
  }
  await db.transaction().execute(async (tx) => {
    await emitChange(emit, tx, change, ownerOf(queue_id), { queue_id, count: 1 })
    await audit(tx, 200)
  })
  return true
}

/** Changes the first messages of a sender; the caller repeats it while some remain. */
export async function changeSenderByCommand(db: Db, command: Command, sender: string) {
  const { config, queue, change, reason } = command
  const { ids } = await findOfSender(queue, change, sender)
  const chosen = ids.slice(0, MOST_CHANGED)
  const ownerOf = await findOwners(db, chosen)
  const action = 'change_queue_of_sender'
  const asked = { sender, action: change, dry_run: false, reason }
  if (chosen.length > 0) {
    await insertCommand(db, { action, request_body: asked, status_code: 202 }, new Date())
  }
  const changed = await changeMany(queue, change, chosen)
  await db.transaction().execute(async (tx) => {
    const { emit } = events([webhookQueue(config)])
    if (changed.length > 0) {
      await emitOfMany(emit, tx, change, { ids: changed, ownerOf }, { sender })
    }
    const request_body = { ...asked, changed: changed.length }
    await insertCommand(tx, { action, request_body }, new Date())
  })
  return { changed: changed.length, remaining: ids.length - chosen.length }
}
