import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres, { type Sql } from 'postgres'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { knownMigrations, migrate, migrationStatus, requireMigrated } from './migrate.ts'

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

it('refuses a database that a newer version has migrated', async () => {
  add('create table notices (id text primary key)')
  await migrate(sql, { folder })
  await expect(migrate(sql)).rejects.toThrow(
    `the database was migrated by a newer version (it has ${NEXT}); use that version`,
  )
})

it('numbers the migrations from 0001 without gaps', () => {
  const numbers = knownMigrations().map(({ name }) => Number(name.slice(0, 4)))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
})
