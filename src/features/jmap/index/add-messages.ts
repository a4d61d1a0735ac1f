import { sql } from 'kysely'
import { bulkRows } from '../../../database/bulk.ts'
import type { Tx } from '../../../database/database.ts'
import { isUnread } from '../imap/keywords.ts'
import type { Touched } from './apply-changes.ts'
import type { Change } from './change-log.ts'
import { threadIdOf } from './ids.ts'
import type { Summary } from './summary.ts'

/** Adds messages to a mailbox; a copy of a known message is only a further place of it. */
export async function addMessages(
  tx: Tx,
  accountId: string,
  mailboxId: string,
  added: readonly Summary[],
  touched: Touched,
): Promise<Change[]> {
  if (added.length === 0) return []
  const threads = await knownThreads(tx, accountId, added)
  const changes: Change[] = []
  const fresh = new Map<string, Summary>()
  for (const summary of added) {
    if (threads.byEmail.has(summary.id)) {
      touched.emails.add(summary.id)
      continue
    }
    fresh.set(summary.id, summary)
    touched.created.add(summary.id)
    changes.push({ kind: 'Email', id: summary.id, action: 'created' })
    const joined = joinThread(summary, threads)
    touched.threads.add(joined.id)
    changes.push(joined)
  }
  const threadOf = (id: string) => threads.byEmail.get(id) ?? ''
  await insertEmails(tx, accountId, [...fresh.values()], threadOf)
  await insertMessageIds(tx, accountId, threads.newHashes)
  await insertPlaces(tx, accountId, mailboxId, added, threadOf)
  return changes
}

interface Threads {
  byEmail: Map<string, string>
  byHash: Map<string, string>
  newHashes: Map<string, string>
}

async function knownThreads(
  tx: Tx,
  accountId: string,
  added: readonly Summary[],
): Promise<Threads> {
  const ids = [...new Set(added.map(({ id }) => id))]
  const emails = await sql<{ id: string; thread_id: string }>`
    select id, thread_id from jmap_emails
    where account_id = ${accountId} and id = any(${ids}::text[])`.execute(tx)
  const hashes = [...new Set(added.flatMap(({ messageHashes }) => messageHashes))]
  const known = await sql<{ message_hash: string; thread_id: string }>`
    select message_hash, thread_id from jmap_message_ids
    where account_id = ${accountId} and message_hash = any(${hashes}::text[])`.execute(tx)
  return {
    byEmail: new Map(emails.rows.map(({ id, thread_id }) => [id, thread_id])),
    byHash: new Map(known.rows.map(({ message_hash, thread_id }) => [message_hash, thread_id])),
    newHashes: new Map(),
  }
}

/** A message joins the thread of a message that it answers, or that answers it. */
function joinThread({ id, messageHashes }: Summary, threads: Threads): Change {
  const known = messageHashes.map((hash) => threads.byHash.get(hash)).find(Boolean)
  const thread = known ?? threadIdOf(id)
  threads.byEmail.set(id, thread)
  for (const hash of messageHashes) {
    if (threads.byHash.has(hash)) continue
    threads.byHash.set(hash, thread)
    threads.newHashes.set(hash, thread)
  }
  return { kind: 'Thread', id: thread, action: known ? 'updated' : 'created' }
}

const EMAIL_COLUMNS = {
  id: 'text',
  thread_id: 'text',
  received_at: 'timestamptz',
  sent_at: 'timestamptz',
  size: 'bigint',
  head: 'jsonb',
  subject: 'text',
  from_text: 'text',
  to_text: 'text',
  cc_text: 'text',
  bcc_text: 'text',
  from_sort: 'text',
  to_sort: 'text',
  subject_sort: 'text',
  preview: 'text',
  has_attachment: 'boolean',
  is_unread: 'boolean',
} as const

async function insertEmails(
  tx: Tx,
  accountId: string,
  fresh: readonly Summary[],
  threadOf: (id: string) => string,
): Promise<void> {
  if (fresh.length === 0) return
  const rows = fresh.map((summary) => ({
    id: summary.id,
    thread_id: threadOf(summary.id),
    received_at: summary.receivedAt,
    sent_at: summary.sentAt,
    size: summary.size,
    head: summary.head,
    subject: summary.subject,
    from_text: summary.fromText,
    to_text: summary.toText,
    cc_text: summary.ccText,
    bcc_text: summary.bccText,
    from_sort: summary.fromSort,
    to_sort: summary.toSort,
    subject_sort: summary.subjectSort,
    preview: summary.preview,
    has_attachment: summary.hasAttachment,
    words: summary.keywords.join(' '),
    is_unread: isUnread(summary.keywords),
  }))
  const names = sql.join(Object.keys(EMAIL_COLUMNS).map((name) => sql.ref(name)))
  await sql`
    insert into jmap_emails (account_id, ${names}, keywords)
    select ${accountId}, ${names}, string_to_array(words, ' ')
    from ${bulkRows({ ...EMAIL_COLUMNS, words: 'text' }, rows)} as rows`.execute(tx)
}

async function insertMessageIds(
  tx: Tx,
  accountId: string,
  hashes: ReadonlyMap<string, string>,
): Promise<void> {
  if (hashes.size === 0) return
  const rows = [...hashes].map(([message_hash, thread_id]) => ({ message_hash, thread_id }))
  await sql`
    insert into jmap_message_ids (account_id, message_hash, thread_id)
    select ${accountId}, message_hash, thread_id
    from ${bulkRows({ message_hash: 'text', thread_id: 'text' }, rows)} as rows
    on conflict do nothing`.execute(tx)
}

async function insertPlaces(
  tx: Tx,
  accountId: string,
  mailboxId: string,
  added: readonly Summary[],
  threadOf: (id: string) => string,
): Promise<void> {
  const rows = added.map(({ uid, id, keywords }) => ({
    uid,
    email_id: id,
    thread_id: threadOf(id),
    keywords: keywords.join(' '),
  }))
  const columns = { uid: 'bigint', email_id: 'text', thread_id: 'text', keywords: 'text' } as const
  await sql`
    insert into jmap_places (account_id, mailbox_id, uid, email_id, thread_id, keywords)
    select ${accountId}, ${mailboxId}, uid, email_id, thread_id, string_to_array(keywords, ' ')
    from ${bulkRows(columns, rows)} as rows
    on conflict (account_id, mailbox_id, uid) do nothing`.execute(tx)
}
