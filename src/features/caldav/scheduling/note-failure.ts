import type { Core } from '../../../core.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import type { Waiting } from './outbox.repository.ts'

const TIME_LIMIT_MS = 5000
const MAX_TRIES = 5

const markTask = taskIn<typeof import('./mark-failed.task.ts')>(
  'features/caldav/scheduling/mark-failed',
)

type Needs = Pick<Core, 'db' | 'now' | 'workers'>

/** Notes in the calendar of the sender that a message could not be sent; programs show it. */
export async function noteFailure(
  { db, now, workers }: Needs,
  { collection_id: id, uid, method, recipient }: Waiting,
): Promise<void> {
  if (id === null) return
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const uri = await objects.findByUid(db, id, uid)
    const present = uri === undefined ? undefined : await objects.find(db, id, uri)
    if (!present) return
    const input = { text: present.data, recipient, isReply: method === 'REPLY' }
    const limits = { owner: id, timeLimitMs: TIME_LIMIT_MS }
    const marked = await workers.run(markTask, input, limits)
    if (!marked) return
    const isDone = await db.transaction().execute(async (tx) => {
      await collections.lock(tx, id)
      const current = await objects.findPlain(tx, id, present.uri)
      if (current?.etag !== present.etag) return false
      const { data, facts } = marked
      const size = Buffer.byteLength(data)
      const etag = sha256(data).slice(0, 32)
      const { schedule_tag } = present
      const change = { objects: 0, bytes: size - present.size }
      const object = { uri: present.uri, etag, data, size, schedule_tag, ...facts }
      await objects.put(tx, id, object, change, now())
      return true
    })
    if (isDone) return
  }
}
