import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing } from '../support/dovecot.ts'
import {
  appendMany,
  contentsOf,
  endOf,
  imapServer,
  inMailbox,
  letter,
  MIGRATION,
  PASSWORDS,
  settingsFor,
  startImport,
} from '../support/migration.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const missing = dovecotMissing()
const MESSAGES = 800
const users = Array.from({ length: 8 }, (_, index) => `user${index}@acme.test`)

describe.skipIf(missing)('migration daemons', () => {
  let old: Dovecot
  let own: Dovecot
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>

  beforeAll(async () => {
    ;[old, own] = await Promise.all([imapServer(...users), imapServer(...users)])
    app = await startApp({ env: settingsFor(own) })
    acme = await app.tenant('acme')
    for (const email of users) {
      const account = { email, password: 'Tr0ub4dor-and-3-horses' }
      expect((await acme.post('/api/v1/mailboxes/email-accounts', account)).status).toBe(201)
    }
  })
  afterEach(cleanUp)
  afterAll(async () => {
    await app?.stop()
    await Promise.all([old?.remove(), own?.remove()])
  })

  const daemon = (more: Record<string, string> = {}) =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'migration'],
      env: {
        DATABASE_URL: app.database.url,
        SVC_SECRET_KEY: app.core.config.SVC_SECRET_KEY ?? '',
        ...settingsFor(own),
        ...more,
      },
    })

  /** Messages in two folders: a few large ones, duplicates, and some without a Message-ID. */
  async function fill(user: string, count: number) {
    await inMailbox(old, user, (client) => client.mailboxCreate('Sent'))
    const messages = Array.from({ length: count }, (_, i) => {
      const text = i % 10 === 0 ? `Subject: bare\r\n\r\n${i % 7}\r\n` : letter(i % 400)
      return {
        path: i % 3 ? 'INBOX' : 'Sent',
        text: i % 97 === 0 ? letter(i, `${'y'.repeat(70)}\r\n`.repeat(9000)) : text,
        flags: i % 2 ? ['\\Seen'] : [],
        date: new Date(Date.UTC(2020, 0, 1) + i * 1000),
      }
    })
    await appendMany(old, user, messages)
  }
  const pair = (user: string) => ({ source: old, from: user, to: user })
  const migrated = async (id: string) =>
    (await acme.get(`${MIGRATION}/jobs/${id}`)).body.job.migrated_messages as number
  // Reads the row instead of calling the API, because the job must not end before it is noticed.
  const begun = (id: string) =>
    waitFor(() =>
      app.core.db
        .selectFrom('migration_jobs')
        .select('id')
        .where('id', '=', id)
        .where('migrated_messages', '>', 0)
        .executeTakeFirst(),
    )
  const owners = async () =>
    app.core.db
      .selectFrom('migration_jobs')
      .select(['id', 'lease_owner'])
      .where('status', '=', 'running')
      .where('lease_until', '>', sql<string>`now()`)
      .execute()

  /** Returns whether a daemon still works on the job, independent of its status. */
  const claimed = async (id: string) => {
    const rows = await app.core.db
      .selectFrom('migration_jobs')
      .select('id')
      .where('id', '=', id)
      .where('lease_until', '>', sql<string>`now()`)
      .execute()
    return rows.length > 0
  }

  it('neither lose nor duplicate a message when one is killed and another continues', async () => {
    const user = users[0] as string
    await fill(user, MESSAGES)
    const first = await daemon()
    const id = await startImport(acme, pair(user))
    await begun(id)
    await first.killNode()
    expect(await migrated(id)).toBeLessThan(MESSAGES)
    const second = await daemon()
    const job = await endOf(acme, id)
    expect(job).toMatchObject({
      status: 'completed',
      migrated_messages: MESSAGES,
      total_messages: MESSAGES,
      failed_messages: 0,
    })
    const [before, after] = [await contentsOf(old, user), await contentsOf(own, user)]
    expect(after.INBOX).toEqual(before.INBOX)
    expect(after.Sent).toEqual(before.Sent)
    await second.stop()
  })

  it('stop within seconds of a cancellation, keep copied messages, and continue in a new job', async () => {
    const user = users[1] as string
    await fill(user, MESSAGES)
    const running = await daemon()
    const id = await startImport(acme, pair(user))
    await begun(id)
    await acme.post(`${MIGRATION}/jobs/${id}/cancel`)
    await waitFor(async () => !(await claimed(id)))
    const count = async () => Object.values(await contentsOf(own, user)).flat().length
    const copied = await count()
    expect(copied).toBeGreaterThan(0)
    expect(copied).toBeLessThan(MESSAGES)
    // Messages in transit at the cancellation have arrived and are counted.
    expect(await migrated(id)).toBe(copied)
    const again = await endOf(acme, await startImport(acme, pair(user)))
    expect(again).toMatchObject({
      status: 'completed',
      failed_messages: 0,
      migrated_messages: MESSAGES - copied,
      total_messages: MESSAGES - copied,
    })
    const [before, after] = [await contentsOf(old, user), await contentsOf(own, user)]
    expect(after.INBOX).toEqual(before.INBOX)
    expect(after.Sent).toEqual(before.Sent)
    await running.stop()
  })

  it('count the messages of a killed job only in that job', async () => {
    const user = users[2] as string
    await fill(user, MESSAGES)
    const first = await daemon()
    const id = await startImport(acme, pair(user))
    await begun(id)
    await first.killNode()
    await acme.post(`${MIGRATION}/jobs/${id}/cancel`)
    // These mailboxes stay locked until the lease of the killed daemon expires; the rest is copied
    // meanwhile.
    await waitFor(async () => !(await claimed(id)))
    const copied = Object.values(await contentsOf(own, user)).flat().length
    const second = await daemon()
    const again = await endOf(acme, await startImport(acme, pair(user)))
    expect(again).toMatchObject({
      status: 'completed',
      failed_messages: 0,
      migrated_messages: MESSAGES - copied,
    })
    const [before, after] = [await contentsOf(old, user), await contentsOf(own, user)]
    expect(after.INBOX).toEqual(before.INBOX)
    expect(after.Sent).toEqual(before.Sent)
    await second.stop()
  })

  it('share jobs within the limit of a host and hand them over on a stop', async () => {
    for (const user of users.slice(4)) await fill(user, 150)
    const limits = { MIGRATION_MAX_CONNECTIONS_PER_HOST: '8', MIGRATION_CONNECTIONS: '3' }
    const [one, two] = await Promise.all([daemon(limits), daemon(limits)])
    const ids = await Promise.all(users.slice(4).map((user) => startImport(acme, pair(user))))
    let most = 0
    const all = Promise.all(ids.map((id) => endOf(acme, id)))
    const watch = setInterval(async () => {
      most = Math.max(most, (await owners()).length)
    }, 50)
    await waitFor(async () => (await owners()).length > 0)
    await one?.stop()
    const jobs = await all
    clearInterval(watch)
    expect(jobs.map(({ status, migrated_messages }) => [status, migrated_messages])).toEqual(
      Array(4).fill(['completed', 150]),
    )
    expect(most).toBeLessThanOrEqual(2)
    for (const user of users.slice(4)) {
      expect((await contentsOf(own, user)).INBOX).toEqual((await contentsOf(old, user)).INBOX)
    }
    await two?.stop()
  })

  it('send signed webhook events of a job in order', async () => {
    const receiver = await startReceiver()
    try {
      const running = await daemon({ WEBHOOK_SECRET: 'a secret' })
      const id = await startImport(acme, pair(users[3] as string), { webhook_url: receiver.url })
      await endOf(acme, id)
      await waitFor(() => receiver.got.length >= 2)
      expect(receiver.got.map(({ json }) => (json as { event: string }).event)).toEqual([
        'migration.started',
        'migration.completed',
      ])
      expect(receiver.got[0]).toMatchObject({
        headers: { 'x-webhook-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/) },
        json: { org_id: acme.organizationId, data: { job_id: id } },
      })
      await running.stop()
    } finally {
      await receiver.stop()
    }
  })

  it('retry failed messages in a child of the job', async () => {
    const user = users[3] as string
    const running = await daemon({ MIGRATION_MAX_MESSAGE_MB: '1' })
    await inMailbox(old, user, (client) =>
      client.append('INBOX', letter('big', `${'z'.repeat(70)}\r\n`.repeat(30_000)), []),
    )
    const id = await startImport(acme, pair(user))
    expect(await endOf(acme, id)).toMatchObject({ status: 'completed', failed_messages: 1 })
    await running.stop()
    const generous = await daemon()
    const { body } = await acme.post(`${MIGRATION}/jobs/${id}/retry-failed`, PASSWORDS)
    expect(await endOf(acme, body.job_id)).toMatchObject({
      status: 'completed',
      is_retry: true,
      parent_job_id: id,
      migrated_messages: 1,
      total_messages: 1,
    })
    expect((await contentsOf(own, user)).INBOX).toEqual((await contentsOf(old, user)).INBOX)
    await generous.stop()
  })
})
