import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { domainsWithQuotas, mailboxesWithQuotas } from '../storage.repository.ts'

export interface Mark {
  kind: 'mailbox' | 'domain'
  name: string
}

/** Locks the marks until the transaction ends. A concurrent change waits and sets its mark again. */
export const takeMarks = (tx: Tx, limit: number): Promise<Mark[]> =>
  tx
    .selectFrom('storage_pending')
    .select(['kind', 'name'])
    .orderBy('kind')
    .orderBy('name')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()

/** Locks the marks of these mailboxes; waits for other transactions. */
export const takeMarksOf = (tx: Tx, emails: readonly string[]) =>
  tx
    .selectFrom('storage_pending')
    .select('name')
    .where('kind', '=', 'mailbox')
    .where('name', 'in', [...emails])
    .orderBy('name')
    .forUpdate()
    .execute()

export async function removeMarks(tx: Tx, kind: Mark['kind'], names: readonly string[]) {
  if (names.length === 0) return
  await tx
    .deleteFrom('storage_pending')
    .where('kind', '=', kind)
    .where('name', 'in', [...names])
    .execute()
}

export const domainsOf = async (tx: Tx, emails: readonly string[], names: readonly string[]) => {
  const { rows } = await sql<{ domain_id: string; email: string | null; domain: string | null }>`
    select domain_id, email, null as domain from email_accounts where email = any(${emails}::text[])
    union all
    select id, null, domain from domains where domain = any(${names}::text[])`.execute(tx)
  return rows
}

/**
 * Locks the domains first, as all code does. Rows that another transaction holds are skipped until the
 * next run: some changes lock a mailbox before its domain, and waiting for them could deadlock.
 */
export async function lockDomains(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('domains')
    .select('id')
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

export async function lockMailboxes(tx: Tx, emails: readonly string[], domains: Set<string>) {
  if (emails.length === 0 || domains.size === 0) return []
  return tx
    .selectFrom('email_accounts')
    .select(['id', 'email', 'domain_id'])
    .where('email', 'in', [...emails])
    .where('domain_id', 'in', [...domains])
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute()
}

/**
 * Copies the figures of Dovecot, and those of attachments, to the mailboxes; `anew` writes unchanged ones
 * too.
 */
export async function carry(tx: Tx, ids: readonly string[], now: Date, anew: boolean) {
  await shrinkAttachments(tx, ids)
  const { rows } = await sql<{ domain_id: string }>`
    update email_accounts set
      storage_used = counted.bytes,
      attachment_storage_used = counted.attachment_bytes,
      email_storage_used = counted.bytes - counted.attachment_bytes,
      total_emails = counted.messages,
      total_attachments = counted.attachments,
      total_files = counted.files,
      last_storage_calculation = ${now.toISOString()}
    from (
      select username, greatest(q.bytes, 0) as bytes, greatest(messages, 0) as messages,
        least(coalesce(a.bytes, 0), greatest(q.bytes, 0)) as attachment_bytes,
        coalesce(attachments, 0) as attachments, coalesce(files, 0) as files
      from edge.quota_usage q left join attachment_usage a on a.email = q.username
    ) as counted
    where counted.username = email_accounts.email
      and email_accounts.id = any(${ids}::text[])
      and (${anew} or email_accounts.last_storage_calculation is null
        or (storage_used, attachment_storage_used, total_emails, total_attachments, total_files)
          is distinct from (counted.bytes, counted.attachment_bytes, counted.messages,
            counted.attachments, counted.files))
    returning email_accounts.domain_id`.execute(tx)
  const changed = [...new Set(rows.map(({ domain_id }) => domain_id))]
  if (changed.length > 0) {
    await tx
      .updateTable('domains')
      .set({ last_storage_calculation: now.toISOString() })
      .where('id', 'in', changed)
      .execute()
  }
}

/** Deleted mail takes its share of the attachments along. */
const shrinkAttachments = (tx: Tx, ids: readonly string[]) =>
  sql`
    update attachment_usage set
      -- numeric, because the product of two sizes exceeds bigint
      bytes = (attachment_usage.bytes::numeric * greatest(q.bytes, 0)
        / email_accounts.storage_used)::bigint
    from email_accounts join edge.quota_usage q on q.username = email_accounts.email
    where email_accounts.id = any(${ids}::text[]) and attachment_usage.email = email_accounts.email
      and greatest(q.bytes, 0) < email_accounts.storage_used`.execute(tx)

export const mailboxes = (tx: Tx, ids: readonly string[]) =>
  mailboxesWithQuotas(tx)
    .where('email_accounts.id', 'in', [...ids])
    .execute()

export const domains = (tx: Tx, ids: readonly string[]) =>
  domainsWithQuotas(tx)
    .where('domains.id', 'in', [...ids])
    .execute()

export interface Measured {
  email: string
  bytes: number
  messages: number
}

/** Writes a figure as Dovecot does; the mark of the trigger propagates it. */
export const store = (db: Db, measured: readonly Measured[]) =>
  sql`
    insert into edge.quota_usage (username, bytes, messages)
    select * from unnest(
      ${measured.map(({ email }) => email)}::text[],
      ${measured.map(({ bytes }) => bytes)}::bigint[],
      ${measured.map(({ messages }) => messages)}::bigint[])
    on conflict (username) do update set bytes = excluded.bytes, messages = excluded.messages`.execute(
    db,
  )

export const setDomainMeasured = (db: Db, id: string, now: Date, milliseconds: number) =>
  db
    .updateTable('domains')
    .set({ last_storage_calculation: now.toISOString(), storage_calculation_time_ms: milliseconds })
    .where('id', '=', id)
    .execute()
