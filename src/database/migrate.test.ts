import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres, { type Sql } from 'postgres'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { waitFor } from '../../test/support/wait.ts'
import { fileSource, recordsOf } from '../backup/backup.ts'
import { load } from '../backup/load.ts'
import { upgradeDatabase } from '../upgrade.ts'
import {
  knownMigrations,
  type MigrationNews,
  migrate,
  migrationStatus,
  requireMigrated,
} from './migrate.ts'
import { migrationPlan } from './migration-plan.ts'

const BASELINE = fileURLToPath(new URL('../../migrations', import.meta.url))
const NEXT = '9001_notices.sql'

let database: Awaited<ReturnType<typeof cloneDatabase>>
let sql: Sql
let folder: string

// Every test starts from a database that has the migrations of the repository.
beforeEach(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  sql = postgres(database.url, { max: 4, onnotice: () => {} })
  folder = mkdtempSync(join(tmpdir(), 'mailplane-migrations-'))
  cpSync(BASELINE, folder, { recursive: true })
})
afterEach(async () => {
  await sql.end()
  await database.drop()
  rmSync(folder, { recursive: true })
})

const add = (text: string, name = NEXT) => writeFileSync(join(folder, name), text)
const appliedNames = async () =>
  (await sql`select name from schema_migrations order by name`).map(({ name }) => name)

it('applies nothing to a database that has all migrations', async () => {
  expect(await migrate(sql)).toEqual([])
  await requireMigrated(sql)
  expect((await migrationStatus(sql)).filter(({ applied_at }) => !applied_at)).toEqual([])
})

it('upgrades a database with the baseline schema by one further migration and keeps its rows', async () => {
  await sql`insert into organizations (id, name) values ('acme', 'Acme')`
  add(`
    create table notices (
      id text primary key,
      organization_id text not null references organizations
    );
    insert into notices select 'of-' || id, id from organizations;`)

  expect(await migrate(sql, { folder })).toEqual([NEXT])
  expect(await sql`select * from notices`).toEqual([{ id: 'of-acme', organization_id: 'acme' }])
  expect(await migrate(sql, { folder })).toEqual([])
})

it('applies a migration once when several processes start together', async () => {
  add('create table notices (id text primary key)')
  const applied = await Promise.all([1, 2, 3].map(() => migrate(sql, { folder })))
  expect(applied.flat()).toEqual([NEXT])
})

it('stops at the named migration', async () => {
  add('create table notices (id text primary key)')
  add('create table reminders (id text primary key)', '9002_reminders.sql')
  expect(await migrate(sql, { folder, last: NEXT })).toEqual([NEXT])
  expect(await migrate(sql, { folder })).toEqual(['9002_reminders.sql'])
})

it('rolls a failing migration back as a whole and applies it after it was corrected', async () => {
  const before = await appliedNames()
  add('create table notices (id text primary key); select 1 / 0')
  await expect(migrate(sql, { folder })).rejects.toThrow('division by zero')
  expect(await appliedNames()).toEqual(before)
  expect(await sql`select to_regclass('notices') as notices`).toEqual([{ notices: null }])

  add('create table notices (id text primary key)')
  expect(await migrate(sql, { folder })).toEqual([NEXT])
})

it('refuses a migration that was changed after it was applied', async () => {
  const { name, text } = knownMigrations().at(-1) as { name: string; text: string }
  add(`${text}-- one more comment\n`, name)
  add('create table notices (id text primary key)')
  await expect(migrate(sql, { folder })).rejects.toThrow(
    `migration ${name} was changed after it had been applied; restore the file`,
  )
  expect(await appliedNames()).not.toContain(NEXT)
})

it('starts beside the schema of a newer version', async () => {
  add('create table notices (id text primary key)')
  await migrate(sql, { folder })
  expect(await migrate(sql)).toEqual([])
  await requireMigrated(sql)
  expect((await migrationStatus(sql)).at(-1)).toMatchObject({ name: NEXT })
})

it('refuses a newer schema that says that it is not compatible', async () => {
  const refusal = `the database was migrated by a newer version (it has ${NEXT}); use that version`
  add('-- migrate: incompatible\nalter table job_runs rename column begun_at to started_at')
  await migrate(sql, { folder })
  await expect(migrate(sql)).rejects.toThrow(refusal)
  await expect(requireMigrated(sql)).rejects.toThrow(refusal)
})

it('lets writers pass while a reader keeps an additive migration waiting', async () => {
  add('alter table organizations add column notice text')
  const reader = await sql.reserve()
  await reader`begin`
  await reader`select count(*) from organizations`
  const news: MigrationNews[] = []
  const report = (one: MigrationNews) => news.push(one)
  const migrating = migrate(sql, { folder, lockTimeoutMs: 200, report })
  await waitFor(() => news.length > 1)

  // Without a lock timeout these would wait behind the migration until the reader ends.
  for (const id of ['acme', 'globex', 'initech']) {
    await sql`insert into organizations (id, name) values (${id}, ${id})`
  }
  await reader`commit`
  reader.release()
  expect(await migrating).toEqual([NEXT])
  expect(new Set(news.slice(0, -1).map(({ state }) => state))).toEqual(
    new Set(['waiting for a lock']),
  )
  expect(news.at(-1)).toMatchObject({ migration: NEXT, state: 'applied' })
  expect(await sql`select notice from organizations`).toHaveLength(3)
})

it('says why it gives up when the lock is not free in the end', async () => {
  add('alter table organizations add column notice text')
  await sql.begin(async (reader) => {
    await reader`select count(*) from organizations`
    await expect(migrate(sql, { folder, lockTimeoutMs: 50, patienceMs: 0 })).rejects.toThrow(
      `migration ${NEXT} did not get a lock within 0 s`,
    )
  })
  expect(await migrate(sql, { folder })).toEqual([NEXT])
})

it('makes a concurrent index once, beside a writer and beside other starts', async () => {
  await sql`create table notices (id text)`
  await sql`insert into notices values ('one'), ('one')`
  // A failed attempt leaves an invalid index behind.
  await sql`create unique index concurrently notices_of_id on notices (id)`.catch(() => {})
  add(`-- migrate: outside a transaction
-- Finds notices by their id.
create index concurrently if not exists notices_of_id on notices (id);`)
  const writer = await sql.reserve()
  await writer`begin`
  await writer`insert into notices values ('two')`
  const starts = Promise.all([1, 2].map(() => migrate(sql, { folder })))
  await waitFor(async () => {
    const waiting = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return waiting.length > 0
  })
  await writer`commit`
  writer.release()
  expect((await starts).flat()).toEqual([NEXT])
  expect(
    await sql`select indisvalid from pg_index where indexrelid = 'notices_of_id'::regclass`,
  ).toEqual([{ indisvalid: true }])
})

it('plans without changing anything', async () => {
  add(`-- migrate: incompatible
-- Adds a notice to organizations. It is empty at first.
alter table organizations add column notice text;`)
  expect(await migrationPlan(sql, folder)).toEqual([
    {
      migration: NEXT,
      purpose: 'Adds a notice to organizations.',
      runs: 'in a transaction',
      older_version: 'must be stopped',
      tables: [{ name: 'organizations', rows: expect.anything(), bytes: expect.anything() }],
    },
  ])
  expect(await appliedNames()).not.toContain(NEXT)
})

it('plans with the rows and bytes of all days of a table that is divided into days', async () => {
  await sql.unsafe(`
    insert into events (id, event, source, data)
      select 'event-' || n, 'email.delivered', 'api', '{}' from generate_series(1, 1000) n;
    analyze events`)
  add('alter table events add column notice text;')
  const [planned] = await migrationPlan(sql, folder)
  expect(planned?.tables.map(({ name, rows }) => ({ name, rows: Number(rows) }))).toEqual([
    { name: 'events', rows: 1000 },
  ])
  expect(Number(planned?.tables[0]?.bytes)).toBeGreaterThan(1000 * 50)
})

it('backs a database up before a migration, and the backup is the way back', async () => {
  const DATA_DIR = join(folder, 'data')
  mkdirSync(DATA_DIR)
  const settings = {
    BACKUP_BEFORE_MIGRATION: 'always' as const,
    BACKUP_DIR: undefined,
    BACKUP_PASSPHRASE: undefined,
    BACKUP_RETENTION_DAYS: undefined,
    BACKUP_TIMEOUT_SECONDS: 120,
    DATABASE_URL: database.url,
    DATA_DIR,
    SVC_SECRET_KEY: 'a root key of at least thirty-two characters',
  }
  const backups: string[] = []
  const report = { migration: () => {}, backup: (path: string) => backups.push(path) }
  await sql`insert into organizations (id, name) values ('acme', 'Acme')`
  add('delete from organizations')

  await upgradeDatabase(database.url, settings, report, folder)
  await upgradeDatabase(database.url, settings, report, folder)
  expect(await sql`select id from organizations`).toEqual([])
  expect(backups).toHaveLength(1)

  const records = recordsOf(fileSource(backups[0] as string), settings.SVC_SECRET_KEY)
  await load(sql, records, {
    force: true,
    files: () => {},
    progress: () => {},
    migrating: (work) => work,
  })
  expect(await sql`select id from organizations`).toEqual([{ id: 'acme' }])
  expect(await appliedNames()).not.toContain(NEXT)
})

it('does not migrate when the backup fails', async () => {
  writeFileSync(join(folder, 'file'), '')
  const settings = {
    BACKUP_BEFORE_MIGRATION: 'always' as const,
    BACKUP_DIR: join(folder, 'file', 'backups'),
    BACKUP_PASSPHRASE: 'correct horse battery staple',
    BACKUP_RETENTION_DAYS: undefined,
    BACKUP_TIMEOUT_SECONDS: 120,
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SVC_SECRET_KEY: 'a root key of at least thirty-two characters',
  }
  add('create table notices (id text primary key)')
  const report = { migration: () => {}, backup: () => {} }
  await expect(upgradeDatabase(database.url, settings, report, folder)).rejects.toThrow(
    'the backup before the migration failed',
  )
  expect(await appliedNames()).not.toContain(NEXT)
})

it('numbers the migrations from 0001 without gaps', () => {
  const numbers = knownMigrations().map(({ name }) => Number(name.slice(0, 4)))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
})
