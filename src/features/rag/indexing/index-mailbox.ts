import type { ImapFlow } from 'imapflow'
import { forThread } from '../../../lib/shared-bytes.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { withMailbox } from '../../../mail/imap-mailbox.ts'
import { type Draft, prepare } from '../documents/prepare.ts'
import { countOf, type NewDocument, store } from '../documents/store.repository.ts'
import { IndexingComplete, IndexingStarted } from '../rag.events.ts'
import * as folders from './folders.repository.ts'
import { type Parsed, unreadable } from './parsed.ts'
import { type Run, step } from './run.ts'

const AT_ONCE = 100
/** Only the beginning of a larger message is read: its text comes before its attachments. */
const MAX_MESSAGE_BYTES = 512 * 1024
const PARSE_LIMIT_MS = 5000
const parseTask = taskIn<typeof import('./parse-message.task.ts')>(
  'features/rag/indexing/parse-message',
)
// Folders that other mailboxes share are indexed with their own mailbox.
const SHARED = /^shared\//i

interface Mailbox {
  id: string
  email: string
}
interface Work {
  folder: folders.Folder
  uids: number[]
}
export interface Message {
  uid: number
  size: number
  parsed: Parsed
}

/** Updates the index of a mailbox: adds new messages and removes deleted ones. */
export const indexMailbox = (run: Run, mailbox: Mailbox): Promise<void> =>
  withMailbox(run.core, mailbox.email, async (client) => {
    const begun = performance.now()
    const work = await survey(run, mailbox, client)
    const total = work.reduce((sum, { uids }) => sum + uids.length, 0)
    if (total === 0) return
    const { db, events } = run.core
    const about = { org_id: run.job.organization_id, domain: run.domain.name }
    await db
      .transaction()
      .execute((tx) =>
        events.emit(tx, IndexingStarted, about, { mailbox: mailbox.email, document_count: total }),
      )
    const counts = { documents_indexed: 0, chunks_created: 0 }
    const room = run.settings.max_documents - (await countOf(db, run.job.organization_id))
    // The next messages are fetched while the last ones are stored.
    let storing = Promise.resolve(0)
    for (const { folder, uids } of work) {
      await client.mailboxOpen(folder.name, { readOnly: true })
      for (let at = 0; at < uids.length && counts.documents_indexed < room; at += AT_ONCE) {
        const some = uids.slice(at, at + AT_ONCE)
        const messages = await fetchSome(run, client, some)
        counts.chunks_created += await storing
        storing = storeSome(run, mailbox, folder, messages, some.at(-1) ?? 0)
        // A rejection is handled where `storing` is awaited.
        storing.catch(() => {})
        counts.documents_indexed += messages.length
      }
    }
    counts.chunks_created += await storing
    const duration_seconds = Math.round(performance.now() - begun) / 1000
    await db.transaction().execute((tx) =>
      events.emit(tx, IndexingComplete, about, {
        mailbox: mailbox.email,
        ...counts,
        duration_seconds,
      }),
    )
  })

/** Finds new messages in all folders and removes deleted ones from the index. */
async function survey(run: Run, mailbox: Mailbox, client: ImapFlow): Promise<Work[]> {
  const listed = (await client.list()).filter(
    ({ path, flags }) =>
      !SHARED.test(path) && !flags.has('\\Noselect') && !flags.has('\\NonExistent'),
  )
  const names = listed.map(({ path }) => path)
  await step(run, async (tx) => {
    const removed = await folders.removeOthers(tx, mailbox.id, names)
    return { result: undefined, progress: { documents: 0, chunks: 0, removed } }
  })
  const work: Work[] = []
  const of = { organization_id: run.job.organization_id, email_account_id: mailbox.id }
  for (const name of names) {
    const { uidValidity } = await client.mailboxOpen(name, { readOnly: true })
    const present = (await client.search({ all: true }, { uid: true })) || []
    const folder = await step(run, async (tx) => {
      const again = run.job.full_reindex ? run.job.id : null
      const result = await folders.open(tx, of, name, Number(uidValidity), again)
      const removed = await folders.removeMissing(tx, result.id, present)
      return { result, progress: { documents: 0, chunks: 0, removed } }
    })
    const uids = present.filter((uid) => uid > folder.last_uid).sort((one, other) => one - other)
    if (uids.length > 0) work.push({ folder, uids })
  }
  return work
}

async function fetchSome(run: Run, client: ImapFlow, uids: number[]): Promise<Message[]> {
  run.signal.throwIfAborted()
  const fields = new Set(run.settings.enabled_fields)
  const query = {
    uid: true,
    size: true,
    internalDate: true,
    source: { maxLength: MAX_MESSAGE_BYTES },
  }
  const messages: Message[] = []
  for await (const message of client.fetch(uids.join(','), query, { uid: true })) {
    const { uid, size = 0, source = Buffer.alloc(0), internalDate } = message
    const received = internalDate === undefined ? undefined : new Date(internalDate)
    messages.push({ uid, size, parsed: await parsedInThread(run, source, received, fields) })
  }
  return messages
}

async function parsedInThread(
  { core: { log, workers }, job }: Run,
  source: Buffer,
  received: Date | undefined,
  fields: ReadonlySet<string>,
): Promise<Parsed> {
  const limits = { owner: job.organization_id, timeLimitMs: PARSE_LIMIT_MS }
  try {
    return await workers.run(parseTask, { source: forThread(source), received, fields }, limits)
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    log.warn({ bytes: source.length }, 'message takes too long to parse, indexed without its text')
    return unreadable(received)
  }
}

/** Stores messages and the last UID in one transaction, so that a crash neither loses nor repeats any. */
async function storeSome(
  run: Run,
  mailbox: Mailbox,
  folder: folders.Folder,
  messages: Message[],
  last: number,
): Promise<number> {
  const rows = await documentsOf(run, mailbox.id, folder.id, messages)
  const chunks = rows.reduce((sum, row) => sum + row.chunks.length, 0)
  return step(run, async (tx) => {
    await store(tx, run.embedder.model, rows)
    await folders.setLastUid(tx, folder.id, last)
    return { result: chunks, progress: { documents: rows.length, chunks, removed: 0 } }
  })
}

type Target = Pick<Run, 'embedder' | 'settings'> & {
  job: { organization_id: string }
  domain: { id: string; collection_id: string }
}

export async function documentsOf(
  { domain, embedder, job, settings }: Target,
  accountId: string,
  folderId: number,
  messages: readonly Message[],
): Promise<NewDocument[]> {
  const drafts: Draft[] = messages.map(({ parsed }) => ({
    subject: parsed.searched_subject,
    people: parsed.people,
    body: parsed.body,
  }))
  const prepared = await prepare(embedder, settings, drafts)
  return messages.map(({ uid, size, parsed: { body: _, ...parsed } }, at) => ({
    ...parsed,
    ...(prepared[at] as (typeof prepared)[number]),
    id: ulid(),
    organization_id: job.organization_id,
    domain_id: domain.id,
    collection_id: domain.collection_id,
    source: 'mail',
    email_account_id: accountId,
    folder_id: folderId,
    uid,
    external_id: null,
    size_bytes: Math.min(size, 2_147_483_647),
    content: null,
    metadata: {},
  }))
}
