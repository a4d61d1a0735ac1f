import { jsonSize } from '../../../lib/json-pieces.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { answerTooLarge } from '../core/answers.ts'
import { utcDate } from '../core/arguments.ts'
import type { Call } from '../core/method.ts'
import { emailBlobId } from '../index/ids.ts'
import type { Head } from '../mime/header-forms.ts'
import type { Wanted } from '../mime/shown-email.ts'
import { type EmailRow, emailRows } from './emails.repository.ts'
import { depthOf } from './properties.ts'

const TASK_MS = 20_000
/** The fields of one message can have 64 KB, and more as JSON. */
const ROWS_AT_ONCE = 100
const MAX_VALUES = 250_000
const MAX_HEADER_BYTES = 1024 * 1024
export const showTask = taskIn<typeof import('../mime/show-emails.task.ts')>(
  'features/jmap/mime/show-emails',
)

/** Messages with the properties that a client wants; what the index lacks is read from the mail server. */
export async function shownEmails(call: Call, ids: readonly string[], wanted: Wanted) {
  const depth = depthOf(wanted)
  const shown: Record<string, unknown>[] = []
  let room = call.room()
  const add = (email: Record<string, unknown>, bytes: number) => {
    room -= bytes
    if (room < 0) throw answerTooLarge()
    shown.push(email)
  }
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const some = ids.slice(at, at + ROWS_AT_ONCE)
    for (const row of await emailRows(call.core.db, call.mail.account.id, some)) {
      const fromIndex = indexed(row, wanted.properties)
      const size = jsonSize(fromIndex, { bytes: room, values: MAX_VALUES })
      if (!size) throw answerTooLarge()
      if (depth === 'index') {
        add(fromIndex, size.bytes)
        continue
      }
      const raw =
        depth === 'message'
          ? await call.blobs.readEmail(call.mail, row.id)
          : await readHeader(call, row)
      // Removed since the index was compared: the next comparison says so.
      if (!raw) continue
      const message = { raw, blobId: emailBlobId(row.id) }
      const parsed = await parse(call, message, wanted, room)
      if (!parsed) throw answerTooLarge()
      add({ ...parsed.shown, ...fromIndex }, size.bytes + parsed.bytes)
    }
  }
  return shown
}

/** Takes a message apart in a worker thread; undefined when the result is longer than `maxBytes`. */
export function parse(
  { core, mail }: Pick<Call, 'core' | 'mail'>,
  { raw, blobId }: { raw: Buffer; blobId: string },
  wanted: Wanted,
  maxBytes: number,
) {
  const limits = { owner: mail.account.organizationId, timeLimitMs: TASK_MS }
  return core.workers.run(showTask, { raw: forThread(raw), blobId, wanted, maxBytes }, limits)
}

async function readHeader({ mail }: Call, { places }: EmailRow): Promise<Buffer | undefined> {
  const [place] = places
  if (!place) return undefined
  const imap = await mail.imap()
  await imap.read(place.path)
  const { responses } = await imap.command(
    `UID FETCH ${place.uid} (UID BODY.PEEK[HEADER]<0.${MAX_HEADER_BYTES}>)`,
    { literal: MAX_HEADER_BYTES },
  )
  return responses.find(({ literals }) => literals.length > 0)?.literals[0]
}

/** The properties that the index has. */
function indexed(row: EmailRow, properties: readonly string[]): Record<string, unknown> {
  const head = row.head as unknown as Head
  const shown: Record<string, unknown> = {}
  for (const property of properties) {
    const value = indexedValue(row, head, property)
    if (value !== undefined) shown[property] = value
  }
  return shown
}

function indexedValue(row: EmailRow, head: Head, property: string): unknown {
  switch (property) {
    case 'id':
      return row.id
    case 'blobId':
      return emailBlobId(row.id)
    case 'threadId':
      return row.thread_id
    case 'mailboxIds':
      return Object.fromEntries(row.places.map(({ mailboxId }) => [mailboxId, true]))
    case 'keywords':
      return Object.fromEntries(row.keywords.map((keyword) => [keyword, true]))
    case 'size':
      return row.size
    case 'receivedAt':
      return utcDate(row.received_at)
    case 'hasAttachment':
      return row.has_attachment
    case 'preview':
      return row.preview
    default:
      return Object.hasOwn(head, property) ? head[property as keyof Head] : undefined
  }
}
