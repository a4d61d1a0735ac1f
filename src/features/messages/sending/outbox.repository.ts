import { sql } from 'kysely'
import { bulkRows } from '../../../database/bulk.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope, type Scope } from '../../../database/scope.ts'
import {
  claimRows,
  heldBy,
  isFree,
  type Lease,
  setLeased,
  setReleased,
} from '../../../jobs/lease.ts'

const TABLE = 'outgoing_messages'
/** After this much time for each waiting message of an organization others have their turn. */
const TURN_SECONDS = 0.02

const COLUMNS = {
  id: 'text',
  organization_id: 'text',
  message_id: 'text',
  sender: 'text',
  recipient: 'text',
  subject: 'text',
  content: 'text',
  part_id: 'text',
  size_bytes: 'integer',
} as const

export type NewMessage = Record<
  'id' | 'organization_id' | 'message_id' | 'sender' | 'recipient' | 'subject' | 'content',
  string
> & { part_id: string | null; size_bytes: number }

const MAX_AT_ONCE = 200
const MAX_LENGTH_AT_ONCE = 1024 * 1024

/** Inserts messages behind those of the organization that wait already, in portions. */
export async function insert(
  tx: Tx,
  messages: readonly NewMessage[],
  waiting: number,
  now: Date,
): Promise<void> {
  for (let start = 0; start < messages.length; ) {
    let end = start
    let length = 0
    do length += messages[end++]?.content.length ?? 0
    while (
      end < messages.length &&
      end - start < MAX_AT_ONCE &&
      length + (messages[end]?.content.length ?? 0) <= MAX_LENGTH_AT_ONCE
    )
    await insertSome(tx, messages.slice(start, end), waiting + start, now)
    start = end
  }
}

async function insertSome(
  tx: Tx,
  messages: readonly NewMessage[],
  waiting: number,
  now: Date,
): Promise<void> {
  const names = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)))
  const at = sql`${now.toISOString()}::timestamptz`
  await sql`
    insert into outgoing_messages (${names}, turn_at, due_at, created_at)
    select ${names}, ${at} + make_interval(secs => (${waiting}::int + row_number() over (order by id)
        - 1) * ${TURN_SECONDS}::float8), ${at}, ${at}
    from ${bulkRows(COLUMNS, messages)} as messages`.execute(tx)
}

export const insertPart = (tx: Tx, id: string, organization_id: string, content: Buffer) =>
  tx.insertInto('outgoing_parts').values({ id, organization_id, content }).execute()

/** Counts no further than the limit. */
export async function countWaiting(db: Db, organizationId: string, limit: number) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from outgoing_messages
      where organization_id = ${organizationId} and failed_at is null limit ${limit}) as waiting
    `.execute(db)
  return rows[0]?.count ?? 0
}

/** The organization that may send for a domain now; undefined for foreign and inactive domains. */
export const findSendingDomain = (db: Db, scope: Scope, domain: string) =>
  db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select('domains.organization_id')
    .where('domains.domain', '=', domain)
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .where(inScope('domains', scope))
    .executeTakeFirst()

export interface Waiting {
  id: string
  organization_id: string
  message_id: string
  sender: string
  recipient: string
  part_id: string | null
  attempts: number
  created_at: string
  /** The organization is active and has the domain of the sender. */
  may_send: boolean
  suppressed: boolean
}

/** Claims messages that are due, with what may have changed since they were accepted. */
export const claim = (db: Db, lease: Lease, limit: number, now: Date): Promise<Waiting[]> => {
  const at = sql`${now.toISOString()}::timestamptz`
  return claimRows<Waiting>(db, TABLE, lease, {
    key: ['id'],
    where: sql`failed_at is null and due_at <= ${at}`,
    orderBy: sql`turn_at`,
    limit,
    returning: sql`id, organization_id, message_id, sender, recipient, part_id, attempts,
      created_at,
      exists (
        select from domains join organizations on organizations.id = domains.organization_id
        where domains.domain = split_part(sender, '@', 2) and domains.hosted and organizations.active
          and domains.organization_id = outgoing_messages.organization_id) as may_send,
      exists (
        select from suppressions
        where suppressions.email = lower(recipient) and suppressions.active
          and suppressions.organization_id = outgoing_messages.organization_id
          and (expires_at is null or expires_at > ${at})) as suppressed`,
  })
}

/** False when none of the rows belongs to the lease any more. */
export async function renew(db: Db, lease: Lease): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update outgoing_messages set ${setLeased(lease)} where ${heldBy(lease)}`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

/** Read when it is sent: all messages of a round together would take too much memory. */
export const contentOf = async (db: Db, id: string): Promise<string> => {
  const row = await db
    .selectFrom(TABLE)
    .select('content')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.content
}

export const partOf = async (db: Db, id: string): Promise<Buffer> => {
  const row = await db
    .selectFrom('outgoing_parts')
    .select('content')
    .where('id', '=', id)
    .executeTakeFirst()
  return row ? Buffer.from(row.content) : Buffer.alloc(0)
}

export async function finish(db: Db, { id, part_id }: Waiting, lease: Lease): Promise<void> {
  await db.deleteFrom(TABLE).where('id', '=', id).where(heldBy(lease)).execute()
  if (part_id !== null) await removePart(db, part_id)
}

/** Two processes that finish the last messages together leave the part to the hourly job. */
const removePart = (db: Db, id: string) =>
  sql`delete from outgoing_parts where id = ${id}
    and not exists (select from outgoing_messages where part_id = ${id})`.execute(db)

export const postpone = (db: Db, id: string, lease: Lease, dueAt: Date, reason: string) =>
  sql`update outgoing_messages
    set attempts = attempts + 1, last_reply = ${reason},
      due_at = ${dueAt.toISOString()}::timestamptz, ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)

/** Gives messages back without an attempt. */
export const release = (db: Db, ids: readonly string[], lease: Lease, dueAt: Date) =>
  sql`update outgoing_messages set due_at = ${dueAt.toISOString()}::timestamptz, ${setReleased}
    where id = any(${[...ids]}::text[]) and ${heldBy(lease)}`.execute(db)

/** Lets the other messages of a sender wait. */
export const pause = (db: Db, sender: string, dueAt: Date) =>
  sql`update outgoing_messages set due_at = ${dueAt.toISOString()}::timestamptz
    where sender = ${sender} and failed_at is null
      and due_at < ${dueAt.toISOString()}::timestamptz and ${isFree}`.execute(db)

/** Keeps a refused message for the message trace, without its content. */
export async function fail(tx: Tx, id: string, lease: Lease, reason: string, now: Date) {
  const { numAffectedRows } = await sql`
    update outgoing_messages
    set failed_at = ${now.toISOString()}::timestamptz, last_reply = ${reason}, content = '',
      part_id = null, ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(tx)
  return (numAffectedRows ?? 0n) > 0n
}

export async function forget(db: Db, failedBefore: Date, partsBefore: Date): Promise<void> {
  await db.deleteFrom(TABLE).where('failed_at', '<', failedBefore.toISOString()).execute()
  await sql`delete from outgoing_parts
    where created_at < ${partsBefore.toISOString()}::timestamptz
      and not exists (select from outgoing_messages where part_id = outgoing_parts.id)`.execute(db)
}
