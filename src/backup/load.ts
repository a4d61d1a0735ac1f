import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql, TransactionSql } from 'postgres'
import { knownMigrations, migrate } from '../database/migrate.ts'
import { StartupError } from '../startup-error.ts'
import { tablesOf } from './dump.ts'
import type { About, Record } from './records.ts'

interface Loading {
  /** Replaces existing data; otherwise a database with data is refused. */
  force: boolean
  /** Called before any data is deleted, so that it can still throw. */
  files(files: { name: string; text: string }[]): void
  progress(table: string, rows: number): void
  /** Wraps work that shows no progress. */
  migrating<Result>(work: Promise<Result>): Promise<Result>
}

/**
 * Replaces the content of a database by a backup. All checks run before data is deleted. After an
 * interruption the database is empty, and the restore can be repeated.
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
  // Waits for no other program that reads the old data.
  await sql.unsafe(`set lock_timeout = '${LOCK_SECONDS}s'`)
  await sql.unsafe('drop schema if exists edge cascade; drop schema public cascade').simple()
  await sql.unsafe('create schema public').simple()
  const last = about.migrations.at(-1)?.name
  if (last) await loading.migrating(migrate(sql, { last }))
  const rows = await sql.begin((tx) => loadAll(tx, first, records, loading.progress))
  const applied = await loading.migrating(migrate(sql))
  return { about, rows, applied }
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
  const checksums = new Map(knownMigrations().map(({ name, checksum }) => [name, checksum]))
  const unknown = migrations.find(({ name, checksum }) => checksums.get(name) !== checksum)
  if (unknown) {
    throw new StartupError(
      `the backup was made by version ${version}, whose ${unknown.name} is not known here; use that version`,
    )
  }
}

/** A running server would continue with data that no longer exists. */
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
  const [table] = await sql`select to_regclass('public.organizations') is not null as yes`
  if (!table?.yes) return false
  const [rows] = await sql`select exists (select from organizations) as yes`
  return rows?.yes
}

const LOCK_SECONDS = 30

/** The backup already contains the effects of triggers and foreign keys. */
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
  // Together: one by one, each would empty the tables that refer to it once more.
  await tx`truncate ${tx(tables.map(({ schema, name }) => `${schema}.${name}`))}`
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

/** Copies the rows of one table; returns their number. */
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
