import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import { encode, type Record, rowsIn, type TableName } from './records.ts'

interface Dumping {
  about: { backup_id: string; hostname: string; created_at: string; version: string }
  files: { name: string; text: string }[]
  /** Called after every table. */
  progress(table: string, rows: number): void
}

/** Streams a consistent snapshot of the database without blocking other transactions. */
export function dump(sql: Sql, dumping: Dumping): Readable {
  const out = new PassThrough()
  const put = async (record: Record) => {
    if (!out.write(encode(record))) await once(out, 'drain')
  }
  sql
    .begin('isolation level repeatable read read only', (tx) => dumpAll(tx, dumping, put))
    .then(
      () => out.end(),
      (error) => out.destroy(error),
    )
  return out
}

async function dumpAll(
  tx: TransactionSql,
  { about, files, progress }: Dumping,
  put: (record: Record) => Promise<void>,
): Promise<void> {
  const migrations = await tx<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations order by name`
  await put({ kind: 'about', about: { ...about, migrations: [...migrations] } })
  for (const file of files) await put({ kind: 'file', ...file })
  let total = 0
  const tables = await tablesOf(tx)
  for (const { columns, ...table } of tables) {
    await put({ kind: 'table', table, columns })
    let rows = 0
    const copying = (await tx`
      copy (select ${tx(columns)} from ${tx(table.schema)}.${tx(table.name)}) to stdout
    `.readable()) as Readable
    for await (const bytes of copying as AsyncIterable<Buffer>) {
      rows += rowsIn(bytes)
      await put({ kind: 'rows', bytes })
    }
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
