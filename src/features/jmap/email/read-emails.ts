import { forThread } from '../../../lib/shared-bytes.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { utcDate } from '../core/arguments.ts'
import { JmapError } from '../core/errors.ts'
import { MAX_BODY_BYTES } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { emailBlobId } from '../index/ids.ts'
import type { Head } from '../mime/header-forms.ts'
import type { Wanted } from '../mime/shown-email.ts'
import type { EmailRow } from './emails.repository.ts'
import { depthOf } from './properties.ts'

const TASK_MS = 20_000
const MAX_HEADER_BYTES = 1024 * 1024
export const showTask = taskIn<typeof import('../mime/show-emails.task.ts')>(
  'features/jmap/mime/show-emails',
)

/** Messages with the properties that a client wants; what the index lacks is read from the mail server. */
export async function shownEmails(call: Call, rows: readonly EmailRow[], wanted: Wanted) {
  const depth = depthOf(wanted)
  const shown: Record<string, unknown>[] = []
  let bytes = 0
  for (const row of rows) {
    const fromIndex = indexed(row, wanted.properties)
    if (depth === 'index') {
      shown.push(fromIndex)
      continue
    }
    const raw =
      depth === 'message'
        ? await call.blobs.readEmail(call.mail, row.id)
        : await readHeader(call, row)
    // Removed since the index was compared: the next comparison says so.
    if (!raw) continue
    const [parsed = {}] = await parse(call, [{ raw, blobId: emailBlobId(row.id) }], wanted)
    bytes += textBytes(parsed.bodyValues)
    if (bytes > MAX_BODY_BYTES) {
      throw new JmapError('requestTooLarge', { description: 'Ask for fewer messages at once' })
    }
    shown.push({ ...parsed, ...fromIndex })
  }
  return shown
}

/** Takes messages apart in a worker thread. */
export function parse(
  { core, mail }: Pick<Call, 'core' | 'mail'>,
  messages: readonly { raw: Buffer; blobId: string }[],
  wanted: Wanted,
) {
  const input = messages.map(({ raw, blobId }) => ({ raw: forThread(raw), blobId }))
  const limits = { owner: mail.account.organizationId, timeLimitMs: TASK_MS }
  return core.workers.run(showTask, { messages: input, wanted }, limits)
}

function textBytes(values: unknown): number {
  const texts = Object.values((values ?? {}) as Record<string, { value: string }>)
  return texts.reduce((sum, { value }) => sum + value.length, 0)
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
