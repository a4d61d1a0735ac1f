import type { ImapFlow } from 'imapflow'
import { ulid } from '../../../lib/ulid.ts'
import { withMailbox } from '../../../mail/imap-mailbox.ts'
import { type Draft, prepare } from '../documents/prepare.ts'
import { countOf, type NewDocument, store } from '../documents/store.repository.ts'
import { IndexingComplete, IndexingStarted } from '../rag.events.ts'
import * as folders from './folders.repository.ts'
import { type Parsed, parseMessage } from './parse-message.ts'
import { type Run, step } from './run.ts'

const AT_ONCE = 100
/** Of a larger message only the beginning is read: its text comes before its attachments. */
const MAX_MESSAGE_BYTES = 512 * 1024
// Folders of others that the mailbox may look into; they are indexed where they belong.
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

/** Brings the index up to what is in a mailbox now: what is new is added, what is gone removed. */
export const indexMailbox = (run: Run, mailbox: Mailbox): Promise<void> =>
  withMailbox(run.core.config, mailbox.email, async (client) => {
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
    const made = { documents_indexed: 0, chunks_created: 0 }
    const room = run.settings.max_documents - (await countOf(db, run.job.organization_id))
    // While some are being stored, the next are fetched.
    let storing = Promise.resolve(0)
    for (const { folder, uids } of work) {
      await client.mailboxOpen(folder.name, { readOnly: true })
      for (let at = 0; at < uids.length && made.documents_indexed < room; at += AT_ONCE) {
        const some = uids.slice(at, at + AT_ONCE)
        const messages = await fetchSome(run, client, some)
        made.chunks_created += await storing
        storing = storeSome(run, mailbox, folder, messages, some.at(-1) ?? 0)
        // It is waited for in a moment, also when the next cannot be fetched.
        storing.catch(() => {})
        made.documents_indexed += messages.length
      }
    }
    made.chunks_created += await storing
    const duration_seconds = Math.round(performance.now() - begun) / 1000
    await db.transaction().execute((tx) =>
      events.emit(tx, IndexingComplete, about, {
        mailbox: mailbox.email,
        ...made,
        duration_seconds,
      }),
    )
  })

/** Looks through all folders, and removes what is no longer there. */
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
  const wanted = {
    uid: true,
    size: true,
    internalDate: true,
    source: { maxLength: MAX_MESSAGE_BYTES },
  }
  const messages: Message[] = []
  for await (const message of client.fetch(uids.join(','), wanted, { uid: true })) {
    const { uid, size = 0, source = Buffer.alloc(0), internalDate } = message
    const received = internalDate === undefined ? undefined : new Date(internalDate)
    messages.push({ uid, size, parsed: await parseMessage(source, received, fields) })
  }
  return messages
}

/** All of them together with the place to go on at: a killed process neither loses nor repeats any. */
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
