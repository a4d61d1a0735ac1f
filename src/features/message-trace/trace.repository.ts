import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { inOrder, withIds } from '../../database/paging.ts'
import { inScope, type Scope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import { copiesIn, type PastDays } from '../../hosting/past-days.ts'
import type { Position } from '../../http/cursor.ts'
import type { Slice } from '../../http/paging.ts'
import { OffsetTooLarge } from './message-trace.errors.ts'
import * as pastTrace from './past-trace.ts'

const MAX_ROWS_OF_MESSAGE = 1000
/** Counting every row of a long log would take longer than reading the page. */
export const MAX_COUNTED = 10_000

export interface TraceFilter {
  sender?: string
  recipient?: string
  subject?: string
  status?: 'delivered' | 'bounced' | 'deferred' | 'rejected' | 'held'
  message_id?: string
  organization_id?: string
  login?: string
  /** Mail that was sent with a login, or mail that came in. */
  direction?: 'outbound' | 'inbound'
  /** Only the last attempt for each message and recipient. */
  isLast?: boolean
  /** Only rows that come after this one. */
  after?: Position
  from?: Date
  to?: Date
}

/** One delivery attempt, as the trace shows it. */
export interface Attempt {
  id: string
  timestamp: string
  sender: string
  recipient: string
  subject: string | null
  status: string
  message_id: string | null
  size: number | null
  relay: string | null
  dsn: string | null
  spam_score: number | null
  bounce_reason: string | null
  queue_id: string | null
  login: string | null
  credential_id: string | null
  quarantine_id: string | null
}

const attemptColumns = [
  'id',
  'timestamp',
  'sender',
  'recipient',
  'subject',
  sql<string>`status`.as('status'),
  'message_id',
  'size',
  'relay',
  'dsn',
  'spam_score',
  'bounce_reason',
  'queue_id',
  'sasl_username as login',
  'credential_id',
  sql<string | null>`null`.as('quarantine_id'),
] as const

// The log has no row of a held message before its release.
const heldColumns = [
  'id',
  'created_at as timestamp',
  'sender',
  'recipient',
  'subject',
  sql<string>`case status when 'quarantined' then 'held' else status end`.as('status'),
  'message_id',
  sql<number | null>`null`.as('size'),
  sql<string | null>`null`.as('relay'),
  sql<string | null>`null`.as('dsn'),
  'spam_score',
  sql<string | null>`'Held back: ' || reason`.as('bounce_reason'),
  'queue_id',
  'login',
  sql<string | null>`null`.as('credential_id'),
  'id as quarantine_id',
] as const

// Mail of the API that the mail server has not accepted.
const waitingColumns = [
  'id',
  sql<string>`coalesce(failed_at, created_at)`.as('timestamp'),
  'sender',
  'recipient',
  'subject',
  sql<string>`case when failed_at is not null then 'rejected' when attempts > 0 then 'deferred'
    else 'queued' end`.as('status'),
  'message_id',
  'size_bytes as size',
  sql<string | null>`null`.as('relay'),
  sql<string | null>`null`.as('dsn'),
  sql<number | null>`null`.as('spam_score'),
  'last_reply as bounce_reason',
  sql<string | null>`null`.as('queue_id'),
  'sender as login',
  sql<string | null>`null`.as('credential_id'),
  sql<string | null>`null`.as('quarantine_id'),
] as const

const isMessage = (id: string) => sql<SqlBool>`message_id = any(${pastTrace.formsOf(id)}::text[])`

/** Conditions on either table; `time` is its column of time. */
function conditions(filter: TraceFilter, time: 'timestamp' | 'created_at'): RawBuilder<SqlBool> {
  const tests: RawBuilder<SqlBool>[] = [sql`true`]
  for (const column of ['sender', 'recipient'] as const) {
    const value = filter[column]?.toLowerCase()
    if (value === undefined) continue
    // A whole address is looked up in an index of the log; the quarantine keeps upper case.
    const stored = time === 'timestamp' ? sql.ref(column) : sql`lower(${sql.ref(column)})`
    tests.push(/^.+@.+$/.test(value) ? sql`${stored} = ${value}` : contains(column, value))
  }
  const { subject, message_id, organization_id, login, direction, after, from, to } = filter
  if (subject !== undefined) tests.push(contains('subject', subject))
  if (message_id !== undefined) tests.push(isMessage(message_id))
  if (organization_id !== undefined) tests.push(sql`organization_id = ${organization_id}`)
  const loginColumn = sql.ref(time === 'timestamp' ? 'sasl_username' : 'login')
  if (login !== undefined) tests.push(sql`lower(${loginColumn}) = ${login.trim().toLowerCase()}`)
  if (direction !== undefined) {
    tests.push(sql`${loginColumn} is ${sql.raw(direction === 'inbound' ? '' : 'not')} null`)
  }
  if (after) {
    const at = sql`(timestamptz 'epoch' + ${after.at}::float8 * interval '1 microsecond')`
    tests.push(sql`(${sql.ref(time)}, id) < (${at}, ${after.id})`)
  }
  if (from) tests.push(sql`${sql.ref(time)} >= ${from.toISOString()}::timestamptz`)
  if (to) tests.push(sql`${sql.ref(time)} <= ${to.toISOString()}::timestamptz`)
  return sql`${sql.join(tests, sql` and `)}`
}

const attempts = (filter: TraceFilter, limit: number) => sql`
  (select id, "timestamp" as at, false as is_held from mail_log
   where ${conditions(filter, 'timestamp')}
     and ${filter.status === undefined ? sql`true` : sql`status = ${filter.status}`}
     and ${filter.isLast ? sql`not superseded` : sql`true`}
   order by "timestamp" desc, id desc limit ${limit})`

const held = (filter: TraceFilter, limit: number) => sql`
  (select id, created_at as at, true as is_held from quarantine
   where ${conditions(filter, 'created_at')}
     and ${filter.status === undefined ? sql`true` : sql`status = 'quarantined'`}
   order by created_at desc, id desc limit ${limit})`

/** Each source gives no more rows than the page can contain. */
function sources(filter: TraceFilter, limit: number): RawBuilder<unknown> {
  if (filter.status === 'held') return held(filter, limit)
  if (filter.status !== undefined) return attempts(filter, limit)
  return sql`${attempts(filter, limit)} union all ${held(filter, limit)}`
}

/** Newest first, deliveries and held messages together. */
export async function list(db: Db, past: PastDays, filter: TraceFilter, { limit, offset }: Slice) {
  const found = await find(db, filter, { limit, offset })
  if (offset === 0) return read(db, past, await withPast(past, filter, limit, found))
  if ((await copiesOf(past, filter)).length === 0) return read(db, past, found)
  // The rows before the page may be on either side.
  const needed = limit + offset
  if (needed > MAX_COUNTED) throw new OffsetTooLarge()
  const all = await find(db, filter, { limit: needed, offset: 0 })
  return read(db, past, (await withPast(past, filter, needed, all)).slice(offset))
}

/** The newest rows and the position of the last one, where more rows follow. */
export async function page(db: Db, past: PastDays, filter: TraceFilter, limit: number) {
  const needed = limit + 1
  const newest = await find(db, filter, { limit: needed, offset: 0 })
  const found = await withPast(past, filter, needed, newest)
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { rows: await read(db, past, shown), next: last && { at: last.at, id: last.id } }
}

interface Found extends Position {
  /** To the microsecond; absent in ClickHouse. */
  time?: string
  is_held: boolean
}

async function find(db: Db, filter: TraceFilter, { limit, offset }: Slice): Promise<Found[]> {
  const needed = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const { rows } = await sql<Found>`
    select id, at::text as time, is_held, (extract(epoch from at) * 1000000)::bigint as at
    from (${sources(filter, needed)}) as found
    order by found.at desc, id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** The days that a filter asks for. */
const rangeOf = ({ from, to, after }: TraceFilter) => {
  const last = after && new Date(after.at / 1000)
  return { from, to: to && last ? (to < last ? to : last) : (to ?? last) }
}

const copiesOf = (past: PastDays, filter: TraceFilter): Promise<string[]> | string[] =>
  filter.status === 'held' ? [] : past.copiesIn(rangeOf(filter))

/** Adds rows of past days to the newest ones of PostgreSQL. */
async function withPast(past: PastDays, filter: TraceFilter, limit: number, found: Found[]) {
  const copies = await copiesOf(past, filter)
  if (copies.length === 0) return found
  const known = new Set(found.map(({ id }) => id))
  const more = (await pastTrace.newest(past, copies, filter, limit))
    // A day that has just moved was found in PostgreSQL.
    .filter(({ id }) => !known.has(id))
    .map((place) => ({ ...place, is_held: false }))
  return [...found, ...more].sort(newestFirst).slice(0, limit)
}

const newestFirst = (one: Position, other: Position) =>
  other.at - one.at || (one.id < other.id ? 1 : -1)

/** The rows in the order in which they were found; those that PostgreSQL does not have are past ones. */
async function read(db: Db, past: PastDays, rows: Found[]) {
  const logged = rows.filter(({ is_held }) => !is_held)
  const heldIds = rows.filter(({ is_held }) => is_held).map(({ id }) => id)
  const [present, held] = await Promise.all([
    db.selectFrom('mail_log').select(attemptColumns).where(areRows(logged)).execute(),
    db.selectFrom('quarantine').select(heldColumns).where(withIds('quarantine', heldIds)).execute(),
  ])
  const ids = new Set(present.map(({ id }) => id))
  const moved = await pastTrace.rowsAt(
    past,
    logged.filter(({ id }) => !ids.has(id)),
  )
  return inOrder<Attempt>(
    rows.map(({ id }) => id),
    [...present, ...held, ...moved],
  )
}

/** The newest is the first of them. The bounds keep PostgreSQL from reading other days. */
const areRows = (found: Found[]) => {
  const rows = found.filter(({ time }) => time !== undefined)
  const times = rows.map(({ time }) => time)
  const ids = rows.map(({ id }) => id)
  return sql<SqlBool>`("timestamp", id) in (
      select * from unnest(${times}::timestamptz[], ${ids}::text[]))
    and "timestamp" >= ${times.at(-1) ?? 'infinity'}::timestamptz
    and "timestamp" <= ${times[0] ?? '-infinity'}::timestamptz`
}

/** Stops at `MAX_COUNTED`. */
export async function count(db: Db, past: PastDays, filter: TraceFilter): Promise<number> {
  // In one statement, so that a day that moves is counted on one side only.
  const { rows } = await sql<{ total: number; copies: string[] }>`
    select count(*) as total, ${copiesIn(rangeOf(filter))} as copies from (
      select 1 from (${sources(filter, MAX_COUNTED)}) as found limit ${MAX_COUNTED}
    ) as counted`.execute(db)
  const { total = 0, copies = [] } = rows[0] ?? {}
  if (filter.status === 'held' || copies.length === 0 || total === MAX_COUNTED) return total
  return total + (await pastTrace.count(past, copies, filter, MAX_COUNTED - total))
}

/** Deliveries and times of holding back, oldest first. */
export async function ofMessage(db: Db, past: PastDays, scope: Scope, messageId: string) {
  const found = await Promise.all([
    db
      .selectFrom('mail_log')
      .select(attemptColumns)
      .where(isMessage(messageId))
      .where(inScope('mail_log', scope))
      .orderBy('timestamp')
      .orderBy('id')
      .limit(MAX_ROWS_OF_MESSAGE)
      .execute(),
    db
      .selectFrom('quarantine')
      .select(heldColumns)
      .where(isMessage(messageId))
      .where(inScope('quarantine', scope))
      .orderBy('created_at')
      .orderBy('id')
      .limit(MAX_ROWS_OF_MESSAGE)
      .execute(),
    db
      .selectFrom('outgoing_messages')
      .select(waitingColumns)
      .where(isMessage(messageId))
      .where(inScope('outgoing_messages', scope))
      .orderBy('created_at')
      .orderBy('id')
      .limit(MAX_ROWS_OF_MESSAGE)
      .execute(),
  ])
  const rows: Attempt[] = found.flat()
  const known = new Set(rows.map(({ id }) => id))
  const moved = await pastTrace.ofMessage(past, scope, messageId, MAX_ROWS_OF_MESSAGE)
  rows.push(...moved.filter(({ id }) => !known.has(id)))
  return rows.sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
}
