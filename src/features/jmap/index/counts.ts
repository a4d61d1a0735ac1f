import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { Touched } from './apply-changes.ts'
import type { Change } from './change-log.ts'

/** The four counts of a mailbox, or what a thread adds to them. */
interface Counts {
  mailbox_id: string
  emails: number
  unread_emails: number
  is_unread: boolean
}

interface Difference {
  emails: number
  unreadEmails: number
  threads: number
  unreadThreads: number
}

/** Counts the touched threads anew and changes the mailboxes by the difference. */
export async function recount(
  tx: Tx,
  accountId: string,
  { threads }: Touched,
  recorded: readonly Change[],
): Promise<Change[]> {
  if (threads.size === 0) return []
  const before = await removeCounts(tx, accountId, [...threads])
  const after = await addCounts(tx, accountId, [...threads])
  const differences = new Map<string, Difference>()
  add(differences, before, -1)
  add(differences, after, 1)
  const changed = [...differences].filter(([, one]) =>
    Object.values(one).some((count) => count !== 0),
  )
  if (changed.length === 0) return []
  const ids = await changeMailboxes(tx, accountId, changed)
  const known = new Set(recorded.filter(({ kind }) => kind === 'Mailbox').map(({ id }) => id))
  return ids
    .filter((id) => !known.has(id))
    .map((id) => ({ kind: 'Mailbox', id, action: 'updated', countsOnly: true }))
}

function add(differences: Map<string, Difference>, rows: readonly Counts[], sign: 1 | -1): void {
  for (const { mailbox_id, emails, unread_emails, is_unread } of rows) {
    const sum = differences.get(mailbox_id) ?? {
      emails: 0,
      unreadEmails: 0,
      threads: 0,
      unreadThreads: 0,
    }
    sum.emails += sign * emails
    sum.unreadEmails += sign * unread_emails
    sum.threads += sign
    sum.unreadThreads += is_unread ? sign : 0
    differences.set(mailbox_id, sum)
  }
}

async function removeCounts(tx: Tx, accountId: string, threads: string[]): Promise<Counts[]> {
  const { rows } = await sql<Counts>`
    delete from jmap_thread_counts
    where account_id = ${accountId} and thread_id = any(${threads}::text[])
    returning mailbox_id, emails, unread_emails, is_unread`.execute(tx)
  return rows
}

/** RFC 8621 section 2: unread mail in the trash makes a thread unread in the trash only. */
async function addCounts(tx: Tx, accountId: string, threads: string[]): Promise<Counts[]> {
  const { rows } = await sql<Counts>`
    with places as (
      select p.mailbox_id, p.thread_id, p.email_id, e.is_unread,
        coalesce(b.role = 'trash', false) as in_trash
      from jmap_places p
      join jmap_emails e on e.account_id = p.account_id and e.id = p.email_id
      join jmap_mailboxes b on b.account_id = p.account_id and b.id = p.mailbox_id
      where p.account_id = ${accountId} and p.thread_id = any(${threads}::text[])
    ), unread as (
      select distinct thread_id, in_trash from places where is_unread
    )
    insert into jmap_thread_counts
      (account_id, mailbox_id, thread_id, emails, unread_emails, is_unread)
    select ${accountId}, p.mailbox_id, p.thread_id, count(distinct p.email_id),
      count(distinct p.email_id) filter (where p.is_unread), bool_or(u.thread_id is not null)
    from places p
    left join unread u on u.thread_id = p.thread_id and u.in_trash = p.in_trash
    group by p.mailbox_id, p.thread_id
    returning mailbox_id, emails, unread_emails, is_unread`.execute(tx)
  return rows
}

async function changeMailboxes(
  tx: Tx,
  accountId: string,
  changed: readonly (readonly [string, Difference])[],
): Promise<string[]> {
  const column = (pick: (one: Difference) => number) => changed.map(([, one]) => String(pick(one)))
  const { rows } = await sql<{ id: string }>`
    update jmap_mailboxes m
    set total_emails = m.total_emails + d.emails::integer,
      unread_emails = m.unread_emails + d.unread_emails::integer,
      total_threads = m.total_threads + d.threads::integer,
      unread_threads = m.unread_threads + d.unread_threads::integer
    from unnest(${changed.map(([id]) => id)}::text[],
      ${column(({ emails }) => emails)}::text[], ${column(({ unreadEmails }) => unreadEmails)}::text[],
      ${column(({ threads }) => threads)}::text[],
      ${column(({ unreadThreads }) => unreadThreads)}::text[]
    ) as d (id, emails, unread_emails, threads, unread_threads)
    where m.account_id = ${accountId} and m.id = d.id
    returning m.id`.execute(tx)
  return rows.map(({ id }) => id)
}
