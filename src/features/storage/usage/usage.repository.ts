import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { domainsWithQuotas, mailboxesWithQuotas } from '../storage.repository.ts'

export interface Mark {
  kind: 'mailbox' | 'domain'
  name: string
}

/** Held until the transaction ends: whoever changes a figure meanwhile waits, and marks it again. */
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

/** The same for these mailboxes; waits for whoever is at them. */
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
 * The domains first, as everywhere. What somebody else holds is left for the next time instead of
 * waited for: some changes come from a mailbox to its domain, and two that wait for each other would
 * end with an error for one of them.
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

/** Carries what Dovecot counted into the mailboxes; `anew`: also where it is what it was. */
export async function carry(tx: Tx, ids: readonly string[], now: Date, anew: boolean) {
  const { rows } = await sql<{ domain_id: string }>`
    update email_accounts set
      storage_used = greatest(counted.bytes, 0),
      email_storage_used = greatest(counted.bytes, 0),
      total_emails = greatest(counted.messages, 0),
      last_storage_calculation = ${now.toISOString()}
    from edge.quota_usage as counted
    where counted.username = email_accounts.email
      and email_accounts.id = any(${ids}::text[])
      and (${anew} or email_accounts.last_storage_calculation is null
        or (storage_used, email_storage_used, total_emails) is distinct from
          (greatest(counted.bytes, 0), greatest(counted.bytes, 0), greatest(counted.messages, 0)))
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

/** As if Dovecot had written it; the mark that this leaves carries it on. */
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
