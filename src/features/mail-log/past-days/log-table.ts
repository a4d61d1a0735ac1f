import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { type ClickHouse, ch, column, Fragment, joined } from '../../../outbound/clickhouse.ts'

/**
 * The columns of the log in ClickHouse, which 18.16 knows: times are microseconds since 1970. Names are those
 * of PostgreSQL, with `at` for the time.
 */
const COLUMNS = {
  id: 'String',
  at: 'Int64',
  sender: 'String',
  recipient: 'String',
  original_recipient: 'Nullable(String)',
  organization_id: 'Nullable(String)',
  subject: 'Nullable(String)',
  status: 'String',
  message_id: 'Nullable(String)',
  queue_id: 'Nullable(String)',
  relay: 'Nullable(String)',
  size: 'Nullable(Int32)',
  delays: 'Nullable(String)',
  dsn: 'Nullable(String)',
  bounce_reason: 'Nullable(String)',
  bounce_type: 'Nullable(String)',
  sasl_username: 'Nullable(String)',
  credential_id: 'Nullable(String)',
  spam_score: 'Nullable(Float64)',
  superseded: 'UInt8',
} as const

const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]

/** The columns of a row in PostgreSQL, as ClickHouse has them. */
const inPostgres = (name: keyof typeof COLUMNS) => {
  if (name === 'at') return sql`(extract(epoch from "timestamp") * 1000000)::bigint`
  return name === 'superseded' ? sql`superseded::integer` : sql.ref(name)
}

/** A partition for each copy of a day: a day is dropped as a whole. */
export const createTable = (clickhouse: ClickHouse) =>
  clickhouse.execute(
    new Fragment(`create table if not exists mail_log (copy_id String,
      ${names.map((name) => `${name} ${COLUMNS[name]}`).join(', ')})
      engine = MergeTree partition by copy_id order by (at, id)`),
  )

const BATCH_SIZE = 5000

/** Yields the rows of a partition in batches, as ClickHouse stores them. */
export async function* batchesOf(db: Db, partition: string) {
  let after = { time: '-infinity', id: '' }
  for (;;) {
    // The time as text too, because numbers of microseconds are not what the index has.
    const columns = names.map((name) => sql`${inPostgres(name)} as ${sql.ref(name)}`)
    const { rows } = await sql<{ id: string; time: string }>`
      select "timestamp"::text as time, ${sql.join(columns)}
      from ${sql.id('days', partition)}
      where ("timestamp", id) > (${after.time}::timestamptz, ${after.id})
      order by "timestamp", id limit ${BATCH_SIZE}`.execute(db)
    if (rows.length > 0) yield rows.map(({ time: _, ...row }) => row)
    const last = rows.at(-1)
    if (!last || rows.length < BATCH_SIZE) return
    after = last
  }
}

export const insert = (clickhouse: ClickHouse, copyId: string, rows: object[]) =>
  clickhouse.insert(
    ch`mail_log`,
    rows.map((row) => ({ copy_id: copyId, ...row })),
  )

/** Count and checksum of rows, equal on both sides and independent of their order. */
export interface Sums {
  rows: string
  checksum: string
}

// Text of a number of another kind than integers is not the same on both sides. The score of a row never
// changes.
const summed = names.filter((name) => name !== 'spam_score')
const isNullable = (name: keyof typeof COLUMNS) => COLUMNS[name].startsWith('Nullable')

// No log line has these characters.
const SEPARATOR = '\x1f'
const NULL = '\x1e'

/** Adds up the first 60 bits of the MD5 of each row. */
export async function sumsInPostgres(tx: Tx, partition: string): Promise<Sums> {
  const text = sql.join(summed.map((name) => sql`coalesce((${inPostgres(name)})::text, ${NULL})`))
  const { rows } = await sql<Sums>`
    select count(*)::text as rows, coalesce(
      sum(('x' || left(md5(concat_ws(${SEPARATOR}, ${text})), 15))::bit(60)::bigint)
        % 18446744073709551616, 0)::text as checksum
    from ${sql.id('days', partition)}`.execute(tx)
  return rows[0] as Sums
}

export async function sumsInClickHouse(clickhouse: ClickHouse, copyId: string): Promise<Sums> {
  const texts = summed.map((name) => {
    const text = COLUMNS[name].includes('String') ? column(name) : ch`toString(${column(name)})`
    return isNullable(name) ? ch`ifNull(${text}, ${NULL})` : text
  })
  const digest = ch`MD5(arrayStringConcat([${joined(texts, ', ')}], ${SEPARATOR}))`
  const [sums] = await clickhouse.select<Sums>(ch`
    select toString(count()) as rows, toString(sum(
      bitShiftRight(reinterpretAsUInt64(reverse(substring(toString(${digest}), 1, 8))), 4))) as checksum
    from mail_log where copy_id = ${copyId}`)
  return sums as Sums
}

/** The copies that have rows. */
export async function copiesPresent(clickhouse: ClickHouse): Promise<string[]> {
  const parts = await clickhouse.select<{ partition: string }>(ch`
    select distinct partition from system.parts
    where database = currentDatabase() and table = ${'mail_log'} and active`)
  // Some versions quote the name.
  return parts.map(({ partition }) => partition.replaceAll("'", ''))
}

export const dropCopy = (clickhouse: ClickHouse, copyId: string) =>
  clickhouse.execute(ch`alter table mail_log drop partition ${copyId}`)
