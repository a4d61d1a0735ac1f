import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { HARD, mailLog } from '../support/mail-log.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

const MESSAGES = 5000
const DOMAINS = 20

let database: Awaited<ReturnType<typeof cloneDatabase>>
let sql: Sql
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeEach(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  receiver = await startReceiver()
  await sql`
    insert into organizations (id, name) select 'org-' || n, 'Org ' || n
    from generate_series(1, ${DOMAINS}) n`
  await sql`
    insert into domains (id, domain, organization_id, ownership_verified_at)
    select 'd' || n, 'd' || n || '.test', 'org-' || n, now() from generate_series(1, ${DOMAINS}) n`
  await sql`
    insert into email_accounts (id, email, domain_id, organization_id, password_hash)
    select 'm' || n, 'admin@d' || n || '.test', 'd' || n, 'org-' || n, ''
    from generate_series(1, ${DOMAINS}) n`
})
afterEach(async () => {
  await cleanUp()
  await receiver.stop()
  await sql.end()
  await database.drop()
})

const start = (services: string, env: Record<string, string> = {}) =>
  startServer({
    dataDir: temporaryFolder(),
    args: ['--services', services],
    env: {
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: 'the root key that all processes have',
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
      REPORT_SCHEDULER_INTERVAL_SECONDS: '1',
      ...env,
    },
  })

it('analytics count every stored row exactly once while ingestors are killed', async () => {
  const paths = ['one', 'other'].map((name) => join(temporaryFolder(), `${name}.log`))
  for (const path of paths) {
    const log = mailLog(path)
    for (let n = 0; n < MESSAGES; n++) {
      const [from, to] = [1 + (n % DOMAINS), 1 + ((n * 7) % (DOMAINS * 2))]
      const end = n % 9 === 0 ? HARD : {}
      log.message({ sender: `a@d${from}.test`, recipient: `b@d${to}.test`, ...end })
    }
  }
  const ingest = (index: number) =>
    start('log_ingestor', {
      MAIL_LOG_FILE: paths[index] as string,
      MAIL_LOG_NAME: `machine-${index}`,
    })
  const stored = async () => Number((await sql`select count(*) from mail_log`)[0]?.count)
  const [victim, , folding] = await Promise.all([ingest(0), ingest(1), start('analytics')])
  await until(async () => (await stored()) > MESSAGES / 5)
  await victim.killNode()
  await folding.killNode()
  await Promise.all([ingest(0), start('analytics'), start('analytics')])
  await until(async () => (await stored()) === 2 * MESSAGES)
  await until(async () => (await sql`select from mail_traffic_pending limit 1`).length === 0)

  const [rows] = await sql`
    select count(*) filter (where split_part(sender, '@', 2) in (select domain from domains))::int as sent,
      count(*) filter (where status = 'bounced')::int as bounced,
      count(*) filter (where split_part(recipient, '@', 2) in (select domain from domains))::int as inbound
    from mail_log`
  expect(rows).toMatchObject({ sent: 2 * MESSAGES })
  for (const table of ['mail_traffic_quarters', 'mail_traffic_days']) {
    const [sums] = await sql`
      select sum(sent)::int as sent, sum(bounced)::int as bounced, sum(inbound)::int as inbound
      from ${sql(table)}`
    expect(sums).toEqual(rows)
  }
  const [hours] = await sql`
    select sum(sent)::int as sent, sum(bounced)::int as bounced, sum(inbound)::int as inbound
    from mail_traffic_hours where organization_id = ''`
  expect(hours).toEqual(rows)
})

async function scheduleReport(n: number): Promise<string> {
  const schedule_id = randomUUID()
  await sql`
    insert into analytics_schedules ${sql({
      schedule_id,
      organization_id: `org-${n}`,
      domain: `d${n}.test`,
      report_type: 'dashboard',
      interval: 'daily',
      webhook_url: receiver.url,
      due_at: new Date(),
    })}`
  return schedule_id
}

it('two daemons send each scheduled report once', async () => {
  await Promise.all([start('analytics'), start('analytics')])
  for (let n = 1; n <= DOMAINS; n++) await scheduleReport(n)
  const done = async () =>
    Number((await sql`select count(last_run_at) from analytics_schedules`)[0]?.count)
  await until(async () => (await done()) === DOMAINS)
  const domains = receiver.got.map(({ json }) => json.domain)
  expect(domains).toHaveLength(DOMAINS)
  expect(new Set(domains).size).toBe(DOMAINS)
})

it('a report whose daemon was killed is sent again with its id unchanged', async () => {
  // The first request never gets a response.
  receiver.state.reply = (_received, response, nth) => nth > 1 && response.end('{}')
  const schedule = await scheduleReport(1)
  const victim = await start('analytics')
  await until(() => receiver.got.length === 1)
  await victim.killNode()
  await start('analytics')
  await until(() => receiver.got.length === 2)
  const state = async () =>
    (await sql`select * from analytics_schedules where schedule_id = ${schedule}`)[0]
  await until(async () => (await state())?.last_run_at !== null)
  expect(await state()).toMatchObject({ last_error: null, lease_owner: null })
  const ids = receiver.got.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
})
