import { setTimeout as sleep } from 'node:timers/promises'
import type { ReservedSql, Sql } from 'postgres'
import { StartupError } from '../startup-error.ts'
import {
  knownMigrations,
  MIGRATIONS_FOLDER,
  type MigrationFile,
  migrationNames,
  statementsOf,
} from './migrations.ts'

export { knownMigrations } from './migrations.ts'

// Key of the advisory lock; an arbitrary number.
const LOCK = 5_377_001
const LOOK_MS = 100

/**
 * A statement that waits for a lock makes all later ones on the table wait too. So it gives up soon, lets
 * them pass and tries again.
 */
const LOCK_TIMEOUT_MS = 2000
const PATIENCE_MS = 5 * 60_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK_DETECTED = '40P01'

export interface Migration {
  name: string
  applied_at: string | null
}

/** A line about a migration, for the log. */
export interface MigrationNews {
  migration: string
  state: 'applied' | 'waiting for a lock'
  ms: number
}

interface Migrating {
  /** The last migration to apply; all of them without it. */
  last?: string
  folder?: string
  lockTimeoutMs?: number
  patienceMs?: number
  /** Called with the pending migrations before the first one changes a database that is not new. */
  before?(pending: string[]): Promise<void>
  /** Not called for a new database, where all of them are applied. */
  report?(news: MigrationNews): void
}

/**
 * Applies the pending migrations and returns their names. Each is complete or has left nothing behind.
 * Concurrent callers wait for the first one and then find nothing to apply.
 */
export async function migrate(sql: Sql, options: Migrating = {}): Promise<string[]> {
  const { last, folder = MIGRATIONS_FOLDER, before, report = () => {} } = options
  // postgres.js reserves an open connection only: with `fetch_types: false` it forgets a new one.
  await sql`select`
  const connection = await sql.reserve()
  try {
    await holdLock(connection)
    await connection`set statement_timeout = 0`
    await prepareTable(connection)
    const { applied, pending } = await compare(connection, folder)
    const chosen = pending.filter(({ name }) => last === undefined || name <= last)
    if (chosen.length > 0 && applied > 0) await before?.(chosen.map(({ name }) => name))
    for (const file of chosen) {
      const begun = Date.now()
      await applyPatiently(connection, file, options)
      if (applied > 0) report({ migration: file.name, state: 'applied', ms: Date.now() - begun })
    }
    return chosen.map(({ name }) => name)
  } finally {
    await releaseLock(connection)
    connection.release()
  }
}

/**
 * Asks again and again instead of waiting in the database: a statement that waits has a snapshot, and a
 * concurrent index waits for all of them.
 */
async function holdLock(connection: ReservedSql): Promise<void> {
  for (;;) {
    const [lock] = await connection`select pg_try_advisory_lock(${LOCK}) as held`
    if (lock?.held) return
    await sleep(LOOK_MS)
  }
}

/** The lock of a lost connection is released already. */
async function releaseLock(connection: ReservedSql): Promise<void> {
  try {
    await connection`rollback`
    await connection`reset lock_timeout`
    await connection`reset statement_timeout`
    await connection`select pg_advisory_unlock(${LOCK})`
  } catch {
    // The cause of the failure is the error that the caller gets.
  }
}

/** Changes nothing where nothing is missing, because a backup may be reading the table for long. */
async function prepareTable(connection: ReservedSql): Promise<void> {
  await connection`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  if (!(await hasMarks(connection))) {
    await connection`alter table schema_migrations
      add column if not exists compatible boolean not null default true`
  }
}

async function hasMarks(sql: Sql): Promise<boolean> {
  const [column] = await sql`
    select from pg_attribute
    where attrelid = to_regclass('schema_migrations') and attname = 'compatible'`
  return column !== undefined
}

async function applyPatiently(
  connection: ReservedSql,
  file: MigrationFile,
  { lockTimeoutMs = LOCK_TIMEOUT_MS, patienceMs = PATIENCE_MS, report = () => {} }: Migrating,
): Promise<void> {
  const begun = Date.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await apply(connection, file, lockTimeoutMs)
    } catch (error) {
      const { code } = error as { code?: string }
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error
      const ms = Date.now() - begun
      if (ms >= patienceMs) {
        throw new StartupError(
          `migration ${file.name} did not get a lock within ${Math.round(patienceMs / 1000)} s; end the backup or the long query that uses the table, and start again`,
        )
      }
      report({ migration: file.name, state: 'waiting for a lock', ms })
    }
    await sleep(pauseMs)
  }
}

async function apply(
  connection: ReservedSql,
  file: MigrationFile,
  lockTimeoutMs: number,
): Promise<void> {
  const { name, checksum, isCompatible } = file
  const record = () =>
    connection`
      insert into schema_migrations (name, checksum, compatible)
      values (${name}, ${checksum}, ${isCompatible})`
  if (!file.isInTransaction) {
    // A concurrent index waits for old transactions while others read and write; it must not give up.
    await connection`set lock_timeout = 0`
    for (const statement of statementsOf(file.text)) {
      await dropInvalidIndex(connection, statement)
      await connection.unsafe(statement).simple()
    }
    await record()
    return
  }
  await connection`begin`
  try {
    await connection.unsafe(`set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`)
    await connection.unsafe(file.text).simple()
    await record()
    await connection`commit`
  } catch (error) {
    await connection`rollback`.catch(() => {})
    throw error
  }
}

/** A concurrent index that failed half-way stays as an invalid one, which `if not exists` would accept. */
async function dropInvalidIndex(connection: ReservedSql, statement: string): Promise<void> {
  const name = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i.exec(
    statement,
  )?.[1]
  if (name === undefined) return
  const [invalid] = await connection`
    select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`
  if (invalid) await connection.unsafe(`drop index concurrently ${name}`)
}

/** For commands that must not change the schema themselves. */
export async function requireMigrated(sql: Sql): Promise<void> {
  const { pending } = await compare(sql, MIGRATIONS_FOLDER)
  if (pending.length > 0) {
    throw new StartupError('the database is not up to date; start the server, or run db migrate')
  }
}

export async function migrationStatus(sql: Sql): Promise<Migration[]> {
  const applied = await appliedTo(sql)
  const times = new Map(applied.map(({ name, applied_at }) => [name, applied_at]))
  const names = new Set([...migrationNames(), ...times.keys()])
  return [...names].sort().map((name) => ({ name, applied_at: times.get(name) ?? null }))
}

interface Applied {
  name: string
  checksum: string
  applied_at: string
  compatible: boolean
}

async function appliedTo(sql: Sql): Promise<Applied[]> {
  const [table] = await sql`select to_regclass('schema_migrations') is not null as present`
  if (!table?.present) return []
  const compatible = (await hasMarks(sql)) ? sql`compatible` : sql`true`
  return sql<Applied[]>`
    select name, checksum, applied_at, ${compatible} as compatible
    from schema_migrations order by name`
}

/**
 * The migrations that the database lacks. Refuses a database that this version cannot run on: migrations
 * of a newer version are fine unless one of them says that it is not compatible.
 */
export async function compare(
  sql: Sql,
  folder = MIGRATIONS_FOLDER,
): Promise<{ applied: number; pending: MigrationFile[]; newer: string[] }> {
  const applied = await appliedTo(sql)
  const all = knownMigrations(folder)
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  const changed = all.find(
    ({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum,
  )
  if (changed) {
    throw new StartupError(
      `migration ${changed.name} was changed after it had been applied; restore the file`,
    )
  }
  const pending = all.filter(({ name }) => !checksums.has(name))
  const newer = applied.filter(({ name }) => !all.some((file) => file.name === name))
  const breaking = newer.find(({ compatible }) => !compatible) ?? (pending[0] && newer[0])
  if (breaking) {
    throw new StartupError(
      `the database was migrated by a newer version (it has ${breaking.name}); use that version`,
    )
  }
  return { applied: applied.length, pending, newer: newer.map(({ name }) => name) }
}
