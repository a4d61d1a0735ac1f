import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { inOrder, withIds } from '../../database/paging.ts'
import { inScope, type Scope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Position } from '../../http/cursor.ts'
import type { Slice } from '../../http/paging.ts'

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

const isMessage = (id: string) => {
  const bare = id.replace(/^<|>$/g, '')
  return sql<SqlBool>`message_id = any(${[bare, `<${bare}>`]}::text[])`
}

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
export async function list(db: Db, filter: TraceFilter, { limit, offset }: Slice) {
  const needed = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const { rows } = await sql<Found>`
    select id, at::text as time, is_held from (${sources(filter, needed)}) as found
    order by at desc, id desc limit ${limit} offset ${offset}`.execute(db)
  return read(db, rows)
}

/** The newest rows and the position of the last one, where more rows follow. */
export async function page(db: Db, filter: TraceFilter, limit: number) {
  const { rows: found } = await sql<Found & Position>`
    select id, at::text as time, is_held, (extract(epoch from at) * 1000000)::bigint as at
    from (${sources(filter, limit + 1)}) as found
    order by found.at desc, id desc limit ${limit + 1}`.execute(db)
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { rows: await read(db, shown), next: last && { at: last.at, id: last.id } }
}

interface Found {
  id: string
  /** To the microsecond. */
  time: string
  is_held: boolean
}

/** The rows in the order in which they were found. */
async function read(db: Db, rows: Found[]) {
  const logged = rows.filter(({ is_held }) => !is_held)
  const heldIds = rows.filter(({ is_held }) => is_held).map(({ id }) => id)
  const found = await Promise.all([
    db.selectFrom('mail_log').select(attemptColumns).where(areRows(logged)).execute(),
    db.selectFrom('quarantine').select(heldColumns).where(withIds('quarantine', heldIds)).execute(),
  ])
  return inOrder(
    rows.map(({ id }) => id),
    found.flat(),
  )
}

/** The newest is the first of them. The bounds keep PostgreSQL from reading other days. */
const areRows = (rows: Found[]) => {
  const times = rows.map(({ time }) => time)
  const ids = rows.map(({ id }) => id)
  return sql<SqlBool>`("timestamp", id) in (
      select * from unnest(${times}::timestamptz[], ${ids}::text[]))
    and "timestamp" >= ${times.at(-1) ?? 'infinity'}::timestamptz
    and "timestamp" <= ${times[0] ?? '-infinity'}::timestamptz`
}

/** Stops at `MAX_COUNTED`. */
export async function count(db: Db, filter: TraceFilter): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      select 1 from (${sources(filter, MAX_COUNTED)}) as found limit ${MAX_COUNTED}
    ) as counted`.execute(db)
  return rows[0]?.total ?? 0
}

/** Deliveries and times of holding back, oldest first. */
export async function ofMessage(db: Db, scope: Scope, messageId: string) {
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
  return found.flat().sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
}
