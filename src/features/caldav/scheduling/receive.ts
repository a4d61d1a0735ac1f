import type { Core } from '../../../core.ts'
import { ownAddresses } from '../../../hosting/sendable-addresses.repository.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { MAX_OBJECT_BYTES } from '../protocol/properties.ts'
import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import { createDefaults } from '../store/open-collection.ts'
import type { Applied } from './apply-message.task.ts'
import * as owners from './owners.repository.ts'
import type { CalendarMessage } from './read-mail.task.ts'

const TIME_LIMIT_MS = 5000
const MAX_TRIES = 5

const applyTask = taskIn<typeof import('./apply-message.task.ts')>(
  'features/caldav/scheduling/apply-message',
)

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'workers'>

/**
 * Applies a message to the calendar of a mailbox. Returns why it changed nothing; undefined when it
 * did. Another change in between is noticed by the entity tag.
 */
export async function receive(
  core: Needs,
  mailbox: owners.Mailbox,
  author: string,
  message: CalendarMessage,
): Promise<string | undefined> {
  const { db, workers } = core
  const { owner, organization_id } = mailbox
  const mine = await ownAddresses(db, mailbox)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await owners.objectOf(db, owner, message.uid)
    const present = found?.gone ? undefined : found
    const input = {
      method: message.method,
      calendar: message.calendar,
      author,
      mine,
      stored: present?.data ?? null,
      deletedAt: found?.gone ? new Date(found.modified_at).getTime() / 1000 : null,
    }
    const limits = { owner: organization_id, timeLimitMs: TIME_LIMIT_MS }
    const result = await workers.run(applyTask, input, limits)
    if ('ignored' in result) return result.ignored
    const outcome = await store(core, mailbox, present, message, result)
    if (outcome !== 'changed since') return outcome
  }
  return 'the object changes too often'
}

async function store(
  { config, db, now }: Needs,
  { owner, organization_id }: owners.Mailbox,
  present: owners.FoundObject | undefined,
  { method, uid }: CalendarMessage,
  { data, facts }: Extract<Applied, { data: string }>,
): Promise<string | undefined> {
  const size = Buffer.byteLength(data)
  if (size > MAX_OBJECT_BYTES) return 'the object is too large'
  return db.transaction().execute(async (tx) => {
    await createDefaults(tx, owner, organization_id)
    const id =
      present?.collection_id ?? (await owners.defaultCalendar(tx, owner, facts.component ?? ''))?.id
    if (id === undefined) return 'no calendar'
    // The calendar may be deleted at this moment.
    if (!(await collections.lock(tx, id))) return 'changed since'
    const current = await owners.objectOf(tx, owner, uid)
    const etagNow = current?.gone ? undefined : current?.etag
    if (etagNow !== present?.etag) return 'changed since'
    const used = await collections.usage(tx, owner)
    const growth = size - (present ? Buffer.byteLength(present.data) : 0)
    const isFull =
      used.bytes + growth > config.CALDAV_QUOTA_MB * 1024 * 1024 ||
      (!present && used.objects >= config.CALDAV_MAX_OBJECTS)
    if (isFull) return 'the calendars are full'
    const uri = present?.uri ?? `${sha256(uid).slice(0, 32)}.ics`
    const etag = sha256(data).slice(0, 32)
    // Answers leave the version of the organizer as it is.
    const schedule_tag = method === 'REPLY' ? (present?.schedule_tag ?? etag) : etag
    const change = { objects: present ? 0 : 1, bytes: growth }
    await objects.put(tx, id, { uri, etag, data, size, schedule_tag, ...facts }, change, now())
    return undefined
  })
}
