import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import postgres, { type Sql } from 'postgres'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { HARD, LATER, mailLog } from '../support/mail-log.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'

const MESSAGES = 6000

let database: Awaited<ReturnType<typeof cloneDatabase>>
let sql: Sql
let path: string
let env: Record<string, string>

beforeEach(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  path = join(temporaryFolder(), 'mail.log')
  env = {
    DATABASE_URL: database.url,
    SVC_SECRET_KEY: 'the root key that both processes have',
    MAIL_LOG_FILE: path,
  }
})
afterEach(async () => {
  await cleanUp()
  await sql.end()
  await database.drop()
})

const start = () => startServer({ dataDir: temporaryFolder(), env })
const stored = async () => Number((await sql`select count(*) from mail_log`)[0]?.count)
const totals = async () => {
  const [rows] = await sql`
    select count(*)::int as rows, count(distinct queue_id)::int as messages,
      count(*) filter (where status = 'deferred')::int as deferred,
      count(*) filter (where status = 'bounced')::int as bounced,
      count(*) filter (where sender = '')::int as unknown
    from mail_log`
  const [events] = await sql`
    select count(*)::int as events from events where event like 'email.%'`
  return { ...rows, ...events }
}

/** Messages that overlap, so that the lines of one message are far apart. */
function overlapping(count: number) {
  const log = mailLog(path)
  const waiting: string[] = []
  const expected = { rows: 0, messages: count, deferred: 0, bounced: 0, unknown: 0, events: 0 }
  const attempt = (queueId: string, sent: object) => {
    log.attempt(queueId, sent)
    expected.rows++
    expected.events++
  }
  return {
    expected,
    write(part: number) {
      for (let i = 0; i < part; i++) {
        waiting.push(log.arrive({ subject: `Number ${i}` }).queueId)
        if (waiting.length < 50) continue
        const queueId = waiting.shift() as string
        if (i % 7 === 0) {
          attempt(queueId, LATER)
          expected.deferred++
        }
        attempt(queueId, i % 11 === 0 ? HARD : {})
        if (i % 11 === 0) expected.bounced++
        log.removed(queueId)
      }
    },
    end() {
      for (const queueId of waiting.splice(0)) {
        attempt(queueId, {})
        log.removed(queueId)
      }
    },
  }
}

it('every message is stored once although the ingestor is killed repeatedly', async () => {
  const sent = overlapping(MESSAGES)
  sent.write(MESSAGES / 2)
  for (let kills = 0; kills < 3; kills++) {
    const before = await stored()
    const server = await start()
    // During a batch or between two batches.
    await until(async () => (await stored()) > before)
    await server.killNode()
    sent.write(MESSAGES / 6)
  }
  sent.end()
  await start()
  await until(async () => (await stored()) >= sent.expected.rows)
  expect(await totals()).toEqual(sent.expected)
  expect(await sql`select count(*)::int from mail_log_messages`).toEqual([{ count: 0 }])
})

it('one of two ingestors reads the log, and the other takes over after a kill', async () => {
  const sent = overlapping(900)
  const owner = async () =>
    (await sql`select lease_owner as owner from mail_log_positions`)[0]?.owner as string
  const first = await start()
  sent.write(300)
  await until(async () => (await stored()) === sent.expected.rows)
  const before = await owner()
  await start()
  sent.write(300)
  await until(async () => (await stored()) === sent.expected.rows)
  expect(await owner()).toBe(before)
  await first.killNode()
  sent.write(300)
  sent.end()
  await until(async () => (await stored()) >= sent.expected.rows)
  expect(await totals()).toEqual(sent.expected)
  expect(await owner()).not.toBe(before)
})

it('an ingestor keeps its lease while a slow batch is stored', async () => {
  await sql`create function be_slow() returns trigger language plpgsql as $$
    begin perform pg_sleep(9); return null; end $$`
  await sql`create trigger slow after insert on mail_log
    for each statement execute function be_slow()`
  const sent = overlapping(100)
  sent.write(100)
  sent.end()
  await start()
  const owner = async () =>
    (await sql`select lease_owner as owner from mail_log_positions`)[0]?.owner as string
  await until(async () => (await owner()) !== undefined)
  const first = await owner()
  await start()
  await until(async () => (await stored()) === sent.expected.rows)
  expect(await totals()).toEqual(sent.expected)
  expect(await owner()).toBe(first)
})

it('log rotation loses no line, with and without a running ingestor', async () => {
  const sent = overlapping(1200)
  const server = await start()
  sent.write(300)
  await until(async () => (await stored()) > 0)
  renameSync(path, `${path}.1`)
  sent.write(300)
  await until(async () => (await stored()) === sent.expected.rows)
  await server.killNode()
  sent.write(300)
  rmSync(`${path}.1`)
  writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(path)))
  rmSync(path)
  sent.write(300)
  sent.end()
  await start()
  await until(async () => (await stored()) >= sent.expected.rows)
  expect(await totals()).toEqual(sent.expected)
})

it('the ingestor continues after an outage of the database', async () => {
  const sent = overlapping(600)
  await start()
  sent.write(300)
  await until(async () => (await stored()) === sent.expected.rows)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  sent.write(300)
  sent.end()
  await until(async () => (await stored()) >= sent.expected.rows)
  expect(await totals()).toEqual(sent.expected)
})

it('the ingestor stores one position per host', async () => {
  appendFileSync(path, '')
  await start()
  env = { ...env, MAIL_LOG_NAME: 'other' }
  await start()
  const names = async () =>
    (await sql`select name from mail_log_positions order by name`).map((row) => row.name)
  await until(async () => (await names()).length === 2)
  expect(await names()).toEqual([`${hostname()}:${path}`, `other:${path}`].sort())
})
