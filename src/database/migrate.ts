import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql } from 'postgres'
import { sha256 } from '../lib/tokens.ts'
import { StartupError } from '../startup-error.ts'

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url))
// Any number will do, as long as every process uses the same.
const LOCK = 5_377_001

export interface Migration {
  name: string
  applied_at: string | null
}

/**
 * Applies what is missing, up to the named one or all of it; a second process waits for the first and
 * then finds nothing to do.
 */
export async function migrate(sql: Sql, last?: string): Promise<string[]> {
  const connection = await sql.reserve()
  try {
    await connection`select pg_advisory_lock(${LOCK})`
    try {
      await connection`
        create table if not exists schema_migrations (
          name text primary key,
          checksum text not null,
          applied_at timestamptz not null default now()
        )`
      const pending = (await pendingFiles(connection)).filter(
        ({ name }) => last === undefined || name <= last,
      )
      for (const { name, text, checksum } of pending) {
        await connection.unsafe(`begin; ${text}; `).simple()
        await connection`insert into schema_migrations ${connection({ name, checksum })}`
        await connection.unsafe('commit')
      }
      return pending.map(({ name }) => name)
    } catch (error) {
      await connection.unsafe('rollback').catch(() => {})
      throw error
    } finally {
      await connection`select pg_advisory_unlock(${LOCK})`.catch(() => {})
    }
  } finally {
    connection.release()
  }
}

/** For commands that only look or touch a row: changing the schema is for a start, or `db migrate`. */
export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = (await migrationStatus(sql)).filter(({ applied_at }) => applied_at === null)
  if (pending.length > 0) {
    throw new StartupError('the database is not up to date; start the server, or run db migrate')
  }
}

export async function migrationStatus(sql: Sql): Promise<Migration[]> {
  const [exists] = await sql`select to_regclass('schema_migrations') is not null as found`
  const applied = exists?.found
    ? await sql<
        { name: string; applied_at: string }[]
      >`select name, applied_at from schema_migrations`
    : []
  const times = new Map(applied.map(({ name, applied_at }) => [name, applied_at]))
  return files().map((name) => ({ name, applied_at: times.get(name) ?? null }))
}

const files = () =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** What this version brings, in order. */
export const knownMigrations = () =>
  files().map((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    return { name, text, checksum: sha256(text) }
  })

async function pendingFiles(sql: Sql) {
  const applied = await sql<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations`
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  const all = knownMigrations()
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
