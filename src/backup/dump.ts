import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import { ownConnection } from '../database/database.ts'
import { StartupError } from '../startup-error.ts'
import { encode, type Record, rowsIn, type TableName } from './records.ts'

interface Dumping {
  about: { backup_id: string; hostname: string; created_at: string; version: string }
  files: { name: string; text: string }[]
  /** Called before every table. */
  begin(table: string): void
  /** Called after every table. */
  progress(table: string, rows: number): void
}

const LOCK_SECONDS = 30
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Streams a consistent snapshot of the database without blocking other transactions. It has its own
 * connection, which closes with the stream: a COPY without a reader never ends.
 */
export function dump(sql: Sql, dumping: Dumping): Readable {
  const own = ownConnection(sql)
  const out = new PassThrough()
  const closed = new AbortController()
  out.once('close', () => {
    closed.abort()
    void own.end({ timeout: 0 })
  })
  const put = async (record: Record) => {
    closed.signal.throwIfAborted()
    if (!out.write(encode(record))) await once(out, 'drain', { signal: closed.signal })
  }
  own
    .begin('isolation level repeatable read read only', (tx) => dumpAll(tx, dumping, put))
    .then(
      () => out.end(),
      (error) => out.destroy(explained(error)),
    )
  return out
}

const explained = (error: Error & { code?: string }): Error =>
  error.code === LOCK_NOT_AVAILABLE
    ? new StartupError(
        `a table is locked by another transaction for more than ${LOCK_SECONDS} s; repeat the backup later`,
      )
    : error

async function dumpAll(
  tx: TransactionSql,
  { about, files, begin, progress }: Dumping,
  put: (record: Record) => Promise<void>,
): Promise<void> {
  await tx.unsafe(`set local lock_timeout = '${LOCK_SECONDS}s'`)
  // A large table takes as long as it takes; the caller watches the progress.
  await tx.unsafe('set local statement_timeout = 0')
  const migrations = await tx<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations order by name`
  await put({ kind: 'about', about: { ...about, migrations: [...migrations] } })
  for (const file of files) await put({ kind: 'file', ...file })
  let total = 0
  const tables = await tablesOf(tx)
  for (const { columns, ...table } of tables) {
    begin(table.name)
    await put({ kind: 'table', table, columns })
    let rows = 0
    const copying = (await tx`
      copy (select ${tx(columns)} from ${tx(table.schema)}.${tx(table.name)}) to stdout
    `.readable()) as Readable
    for await (const bytes of copying as AsyncIterable<Buffer>) {
      rows += rowsIn(bytes)
      await put({ kind: 'rows', bytes })
    }
    // postgres.js pauses its socket while the reader is behind and resumes it when the reader asks for
    // more, which it does not do after the end.
    copying._read(0)
    await put({ kind: 'table end', rows })
    progress(table.name, rows)
    total += rows
  }
  const values = await tx<{ name: string; value: string }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as value
    from pg_sequences where last_value is not null and schemaname in ('public', 'edge')`
  await put({ kind: 'sequences', values: [...values] })
  await put({ kind: 'end', tables: tables.length, rows: total })
}

/** All tables but schema_migrations, which the `about` record contains. */
export const tablesOf = (sql: Sql | TransactionSql) => sql<(TableName & { columns: string[] })[]>`
  select space.nspname as schema, class.relname as name,
    array_agg(attribute.attname::text order by attribute.attnum) as columns
  from pg_class class
  join pg_namespace space on space.oid = class.relnamespace
  join pg_attribute attribute on attribute.attrelid = class.oid
    and attribute.attnum > 0 and not attribute.attisdropped and attribute.attgenerated = ''
  where space.nspname in ('public', 'edge') and class.relkind in ('r', 'p')
    and not class.relispartition and class.relname <> 'schema_migrations'
  group by space.nspname, class.relname
  order by space.nspname, class.relname`
