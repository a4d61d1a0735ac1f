import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

const BATCH_SIZE = 500

interface Person {
  email: string
}

/** The messages of a person, for exports: those of the own mailbox. */
export const archivedOf = ({ email }: Person) => sql<SqlBool>`
  id in (select archive_id from archived_copies where address = ${email} and is_own)`

/**
 * Takes a person out of a batch of archived messages. A message that concerns no other person of its
 * organization is deleted. In others, and where the person was a correspondent from outside, a pseudonym
 * replaces the address: the message belongs to the others too.
 */
export async function eraseBatch(tx: Tx, { email }: Person, pseudonym: string) {
  const { rows } = await sql<{ archive_id: string }>`
    select distinct archive_id from archived_copies where address = ${email}
    limit ${BATCH_SIZE}`.execute(tx)
  const ids = rows.map(({ archive_id }) => archive_id)
  if (ids.length === 0) return { found: 0, deleted: 0 }
  const { numAffectedRows: deleted = 0n } = await sql`
    delete from archived_messages messages
    where id = any(${ids}::text[])
      and exists (select from archived_copies
        where archive_id = messages.id and address = ${email} and is_own)
      and not exists (select from archived_copies
        where archive_id = messages.id and address <> ${email} and is_own)`.execute(tx)
  await sql`
    insert into archived_copies (archive_id, role, address, organization_id, is_own, received_at)
    select archive_id, role, ${pseudonym}, organization_id, false, received_at from archived_copies
    where archive_id = any(${ids}::text[]) and address = ${email}
    on conflict do nothing`.execute(tx)
  await sql`
    delete from archived_copies
    where archive_id = any(${ids}::text[]) and address = ${email}`.execute(tx)
  await sql`
    update archived_messages messages
    set sender = case when sender = ${email} then ${pseudonym} else sender end,
      search = archive_words(subject,
        case when sender = ${email} then ${pseudonym} else sender end,
        array(select address from archived_copies
          where archive_id = messages.id and role = 'recipient'))
    where id = any(${ids}::text[])`.execute(tx)
  return { found: ids.length, deleted: Number(deleted) }
}

interface Expiring {
  organization_id: string
  before: Date
  held: string[]
}

/** Old messages, except those of addresses under a legal hold. */
const expired = ({ organization_id, before, held }: Expiring) => sql`
  from archived_messages messages
  where organization_id = ${organization_id}
    and received_at < ${before.toISOString()}::timestamptz
    and not exists (select from archived_copies
      where archive_id = messages.id and address = any(${held}::text[]))`

export async function countExpiredArchive(db: Db, expiring: Expiring): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count ${expired(expiring)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Removes a batch of expired messages; a trigger has their objects deleted. */
export async function expireArchive(db: Db, expiring: Expiring): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from archived_messages where id in (
      select id ${expired(expiring)} limit ${BATCH_SIZE})`.execute(db)
  return Number(numAffectedRows)
}
