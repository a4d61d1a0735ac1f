import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql, TransactionSql } from 'postgres'
import { knownMigrations, migrate } from '../database/migrate.ts'
import { StartupError } from '../startup-error.ts'
import { tablesOf } from './dump.ts'
import type { About, Record } from './records.ts'

interface Loading {
  /** What was there goes. Without it, a database that is in use is refused. */
  force: boolean
  /** Told before anything is written, so that it may refuse. */
  files(files: { name: string; text: string }[]): void
  progress(table: string, rows: number): void
}

/**
 * Puts a backup into a database, in the place of what was there. Whatever can be refused is refused
 * before that goes; who is cut off afterwards begins again, with an empty database.
 */
export async function load(sql: Sql, records: AsyncGenerator<Record>, loading: Loading) {
  const { about, files, first } = await beginning(records)
  requireKnown(about)
  await requireIdle(sql)
  if (!loading.force && (await isInUse(sql))) {
    throw new StartupError('the database is in use; --force replaces everything that is in it')
  }
  await sql.begin(withoutTriggers)
  loading.files(files)
  await sql.unsafe('drop schema if exists edge cascade; drop schema public cascade').simple()
  await sql.unsafe('create schema public').simple()
  const last = about.migrations.at(-1)?.name
  if (last) await migrate(sql, last)
  const rows = await sql.begin((tx) => loadAll(tx, first, records, loading.progress))
  await migrate(sql)
  return { about, rows }
}

async function beginning(records: AsyncGenerator<Record>) {
  const opening = await records.next()
  if (opening.done || opening.value.kind !== 'about') throw damaged()
  const files: { name: string; text: string }[] = []
  for (;;) {
    const { value: record, done } = await records.next()
    if (done) throw damaged()
    if (record.kind !== 'file') return { about: opening.value.about, files, first: record }
    files.push({ name: record.name, text: record.text })
  }
}

function requireKnown({ migrations, version }: About): void {
  const known = new Map(knownMigrations().map(({ name, checksum }) => [name, checksum]))
  const strange = migrations.find(({ name, checksum }) => known.get(name) !== checksum)
  if (strange) {
    throw new StartupError(
      `the backup was made by version ${version}, whose ${strange.name} is not known here; use that version`,
    )
  }
}

/** Whoever works on it would go on with what is no longer there. */
async function requireIdle(sql: Sql): Promise<void> {
  const [others] = await sql<{ count: number }[]>`
    select count(*) from pg_stat_activity
    where datname = current_database() and application_name like 'mailplane %'
      and application_name <> 'mailplane command line'`
  if (others && others.count > 0) {
    throw new StartupError('a server is running on this database; stop it first')
  }
}

async function isInUse(sql: Sql): Promise<boolean> {
  const [found] = await sql`select to_regclass('public.organizations') is not null as yes`
  if (!found?.yes) return false
  const [rows] = await sql`select exists (select from organizations) as yes`
  return rows?.yes
}

/** What triggers and foreign keys saw to is in the backup already. */
const withoutTriggers = (tx: TransactionSql) =>
  tx`set local session_replication_role = replica`.catch(() => {
    throw new StartupError(
      'restoring needs a role that may set session_replication_role: a superuser, or one with "grant set on parameter session_replication_role"',
    )
  })

async function loadAll(
  tx: TransactionSql,
  first: Record,
  records: AsyncGenerator<Record>,
  progress: Loading['progress'],
): Promise<number> {
  await withoutTriggers(tx)
  const tables = await tablesOf(tx)
  for (const { schema, name } of tables) await tx`truncate ${tx(schema)}.${tx(name)} cascade`
  let total = 0
  for (let record: Record | undefined = first; record; ) {
    if (record.kind === 'end') {
      if (record.rows !== total) throw damaged()
      return total
    }
    if (record.kind === 'table') {
      const { table, columns } = record
      const into = (await tx`
        copy ${tx(table.schema)}.${tx(table.name)} (${tx(columns)}) from stdin`.writable()) as Writable
      const rows = await copy(records, into)
      progress(table.name, rows)
      total += rows
    }
    if (record.kind === 'sequences') {
      for (const { name, value } of record.values) {
        await tx`select setval(${name}::regclass, ${value}::bigint)`
      }
    }
    record = (await records.next()).value
  }
  throw damaged()
}

/** Rows up to the end of their table; answers how many there were. */
async function copy(records: AsyncGenerator<Record>, into: Writable): Promise<number> {
  let rows = 0
  await pipeline(async function* () {
    for (;;) {
      const { value: record, done } = await records.next()
      if (done) throw damaged()
      if (record.kind === 'table end') {
        rows = record.rows
        return
      }
      if (record.kind !== 'rows') throw damaged()
      yield record.bytes
    }
  }, into)
  return rows
}

const damaged = () => new StartupError('the backup is damaged')
