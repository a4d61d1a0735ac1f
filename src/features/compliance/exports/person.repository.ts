import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { PastDays } from '../../../hosting/past-days.ts'
import { pastContacts, pastLog } from '../personal-data/past-mail.ts'

const BATCH_SIZE = 500

export const account = (db: Db, id: string) =>
  db
    .selectFrom('email_accounts')
    .select([
      'id',
      'email',
      'organization_id',
      'name',
      'external_id',
      'status',
      'storage_quota',
      'storage_used',
      'total_emails',
      'last_login',
      'last_activity',
      'password_changed_at',
      'created_at',
      'updated_at',
    ])
    .where('id', '=', id)
    .executeTakeFirst()

export const settings = (db: Db, id: string) =>
  db
    .selectFrom('email_accounts')
    .select([
      'forward_enabled',
      'forward_destination',
      'vacation_enabled',
      'vacation_message',
      'rate_limits',
      'storage_quotas',
      sql<boolean>`exists (select from totp_enrollments
        where kind = 'mailbox' and subject_id = email_accounts.id and confirmed_at is not null)`.as(
        'two_factor_enabled',
      ),
    ])
    .where('id', '=', id)
    .executeTakeFirst()

/** Aliases with this address as source or as destination. */
export const aliases = (db: Db, email: string) =>
  db
    .selectFrom('aliases')
    .select(['id', 'source', 'destination', 'active', 'created_at', 'updated_at'])
    .where(({ or, eb }) =>
      or([eb('source', '=', email), sql<boolean>`destinations @> array[${email}]`]),
    )
    .orderBy('source')
    .execute()

export const sharedMailboxes = (db: Db, accountId: string) =>
  db
    .selectFrom('shared_mailbox_members')
    .innerJoin('shared_mailboxes', 'shared_mailboxes.id', 'shared_mailbox_id')
    .select(['email', 'shared_mailboxes.name', 'permission'])
    .where('email_account_id', '=', accountId)
    .orderBy('email')
    .execute()

export const sessions = (db: Db, accountIds: readonly string[]) =>
  db
    .selectFrom('sessions')
    .select(['created_at', 'ip_address', 'user_agent', 'expires_at', 'revoked_at'])
    .where(sql<boolean>`email_account_id = any(${accountIds}::text[])`)
    .orderBy('created_at')
    .execute()

export const failedLogins = (db: Db, email: string) =>
  db
    .selectFrom('failed_auth_attempts')
    .select(['client_ip', 'service', 'attempt_count', 'first_attempt_at', 'last_attempt_at'])
    .where('username', '=', email)
    .orderBy('first_attempt_at')
    .execute()

interface LogRow {
  id: string
  timestamp: string
  sender: string
  recipient: string
  subject: string | null
  status: string
  message_id: string | null
  size: number | null
}

/**
 * Sent mail first, then received mail, then mail received through an alias; each oldest first, beginning with
 * the days in ClickHouse.
 */
export async function* mailLog(db: Db, past: PastDays, copies: string[], email: string) {
  for (const column of ['sender', 'recipient', 'original_recipient'] as const) {
    yield* pastLog(past, copies, email, column)
    let after: { timestamp: string; id: string } = { timestamp: '-infinity', id: '' }
    for (;;) {
      const rows: LogRow[] = await logPage(db, email, column, after)
      yield* rows
      const last = rows.at(-1)
      if (!last || rows.length < BATCH_SIZE) break
      after = last
    }
  }
}

async function logPage(
  db: Db,
  email: string,
  column: 'sender' | 'recipient' | 'original_recipient',
  after: { timestamp: string; id: string },
) {
  // Skips the rows that an earlier column has already returned.
  const isNew = {
    sender: sql`true`,
    recipient: sql`sender <> ${email}`,
    original_recipient: sql`sender <> ${email} and recipient <> ${email}`,
  }[column]
  const { rows } = await sql<LogRow>`
    select id, "timestamp", sender, recipient, subject, status, message_id, size from mail_log
    where ${sql.ref(column)} = ${email} and ${isNew}
      and ("timestamp", id) > (${after.timestamp}::timestamptz, ${after.id})
    order by "timestamp", id limit ${BATCH_SIZE}`.execute(db)
  return rows
}

/** Correspondents of the person with the number of messages, most frequent first. */
export async function contacts(db: Db, past: PastDays, copies: string[], email: string) {
  const { rows } = await sql<{ address: string; sent: number; received: number }>`
    select address, sum(sent)::int as sent, sum(received)::int as received from (
      select lower(recipient) as address, 1 as sent, 0 as received
      from mail_log where sender = ${email} and recipient <> ''
      union all
      select lower(sender), 0, 1 from mail_log where recipient = ${email} and sender <> ''
    ) as letters
    group by address order by count(*) desc, address limit 100000`.execute(db)
  const earlier = await pastContacts(past, copies, email)
  if (earlier.length === 0) return rows
  const sums = new Map(rows.map((row) => [row.address, row]))
  for (const { address, sent, received } of earlier) {
    const known = sums.get(address)
    sums.set(address, {
      address,
      sent: sent + (known?.sent ?? 0),
      received: received + (known?.received ?? 0),
    })
  }
  const letters = ({ sent, received }: { sent: number; received: number }) => sent + received
  return [...sums.values()].sort(
    (one, other) => letters(other) - letters(one) || (one.address < other.address ? -1 : 1),
  )
}
