import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql, TransactionSql } from 'postgres'
import { sha256 } from '../lib/tokens.ts'
import { PROJECT } from '../project.ts'
import { StartupError } from '../startup-error.ts'

const FOLDER = fileURLToPath(new URL('migrations', PROJECT))
// Key of the advisory lock; an arbitrary number.
const LOCK = 5_377_001

export interface Migration {
  name: string
  applied_at: string | null
}

/**
 * Applies the pending migrations, up to `last` or all of them, in one transaction and returns their
 * names. Concurrent callers wait for the first one and then find nothing to apply.
 */
export async function migrate(
  sql: Sql,
  { last, folder = FOLDER }: { last?: string; folder?: string } = {},
): Promise<string[]> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`
    await tx`
      create table if not exists schema_migrations (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`
    const pending = (await pendingFiles(tx, folder)).filter(
      ({ name }) => last === undefined || name <= last,
    )
    for (const { name, text, checksum } of pending) {
      await tx.unsafe(text).simple()
      await tx`insert into schema_migrations ${tx({ name, checksum })}`
    }
    return pending.map(({ name }) => name)
  })
}

/** For commands that must not change the schema themselves. */
export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = (await migrationStatus(sql)).filter(({ applied_at }) => applied_at === null)
  if (pending.length > 0) {
    throw new StartupError('the database is not up to date; start the server, or run db migrate')
  }
}

export async function migrationStatus(sql: Sql): Promise<Migration[]> {
  const [table] = await sql`select to_regclass('schema_migrations') is not null as present`
  const applied = table?.present
    ? await sql<
        { name: string; applied_at: string }[]
      >`select name, applied_at from schema_migrations`
    : []
  const times = new Map(applied.map(({ name, applied_at }) => [name, applied_at]))
  return files(FOLDER).map((name) => ({ name, applied_at: times.get(name) ?? null }))
}

const files = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** The migrations of this version, in order. */
export const knownMigrations = (folder = FOLDER) =>
  files(folder).map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text, checksum: sha256(text) }
  })

async function pendingFiles(sql: TransactionSql, folder: string) {
  const applied = await sql<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations`
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  const all = knownMigrations(folder)
  const unknown = [...checksums.keys()].find((name) => !all.some((file) => file.name === name))
  if (unknown) {
    throw new StartupError(
      `the database was migrated by a newer version (it has ${unknown}); use that version`,
    )
  }
  const changed = all.find(
    ({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum,
  )
  if (changed) {
    throw new StartupError(
      `migration ${changed.name} was changed after it had been applied; restore the file`,
    )
  }
  return all.filter(({ name }) => !checksums.has(name))
}
