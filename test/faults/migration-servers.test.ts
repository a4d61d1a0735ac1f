import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { migration } from '../../src/daemons/migration.ts'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing } from '../support/dovecot.ts'
import {
  contentsOf,
  endOf,
  IMAP_PASSWORD,
  imapServer,
  importBody,
  inMailbox,
  letter,
  MIGRATION,
  settingsFor,
} from '../support/migration.ts'
import { type PlainFolder, startPlainImap } from '../support/plain-imap.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const DATE = '02-Mar-2020 10:00:00 +0000'
const users = Array.from({ length: 7 }, (_, index) => `user${index}@acme.test`)
const holding = (...texts: string[]): PlainFolder => ({
  messages: texts.map((text) => ({ text, flags: ['\\Seen'], date: DATE })),
})

describe.skipIf(dovecotMissing())('a migration between different IMAP servers', () => {
  let own: Dovecot
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let daemon: Awaited<ReturnType<typeof migration.start>>
  const servers: Awaited<ReturnType<typeof startPlainImap>>[] = []

  beforeAll(async () => {
    own = await imapServer(...users)
    const limits = { MIGRATION_COMMAND_SECONDS: '600', MIGRATION_RETRIES: '1' }
    app = await startApp({ env: { ...settingsFor(own), ...limits } })
    acme = await app.tenant('acme')
    for (const email of users) {
      const account = { email, password: 'Tr0ub4dor-and-3-horses' }
      expect((await acme.post('/api/v1/mailboxes/email-accounts', account)).status).toBe(201)
    }
    daemon = await migration.start(app.core)
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop()
  })
  afterAll(async () => {
    await daemon?.stop()
    await app?.stop()
    await own?.remove()
    await cleanUp()
  })

  async function plain(options: Parameters<typeof startPlainImap>[0]) {
    const server = await startPlainImap(options)
    servers.push(server)
    return server
  }
  const bodyFor = (server: { port: number }, to: string, more: object = {}) =>
    importBody(
      { source: own, from: 'jane', to },
      { source_port: server.port, source_ssl: false, ...more },
    )
  async function imported(server: { port: number }, to: string, more: object = {}) {
    const { body } = await acme.post(`${MIGRATION}/import`, bodyFor(server, to, more))
    return endOf(acme, body.job_id)
  }
  const user = (number: number) => users[number] as string
  async function restartWith(limits: object) {
    await daemon.stop()
    daemon = await migration.start({ ...app.core, config: { ...app.core.config, ...limits } })
  }

  it('logs in with XOAUTH2 and the configured access token only', async () => {
    const token = 'ya29.a-token-of-the-tests'
    const server = await plain({ token, folders: { INBOX: holding(letter(1)) } })
    const wrong = { source_auth: 'oauth2', source_password: 'ya29.another' }
    const refused = await imported(server, user(0), wrong)
    expect(refused).toMatchObject({ status: 'failed', error: expect.stringMatching(/refuses/) })
    expect(JSON.stringify(refused)).not.toContain('ya29')
    const right = { source_auth: 'oauth2', source_password: token }
    expect(await imported(server, user(0), right)).toMatchObject({
      status: 'completed',
      migrated_messages: 1,
    })
    expect(server.seen.some((command) => command.startsWith('LOGIN'))).toBe(false)
  })

  it('maps special folders and folders with another hierarchy separator', async () => {
    await inMailbox(own, user(1), async (client) => {
      for (const path of ['Sent', 'Trash']) {
        await client.mailboxCreate(path).catch(() => {})
      }
    })
    const server = await plain({
      capabilities: ['NAMESPACE', 'SPECIAL-USE'],
      delimiter: '.',
      prefix: 'INBOX.',
      folders: {
        INBOX: holding(letter(1)),
        'INBOX.Gesendet': { ...holding(letter(2)), use: '\\Sent' },
        'INBOX.Papierkorb': { ...holding(letter(3)), use: '\\Trash' },
        'INBOX.Work.2020/Q1.Plans': holding(letter(4)),
        'INBOX.Alles': { ...holding(letter(1)), use: '\\All' },
      },
    })
    expect(await imported(server, user(1))).toMatchObject({
      status: 'completed',
      migrated_messages: 4,
    })
    const placed = Object.entries(await contentsOf(own, user(1))).flatMap(([path, messages]) =>
      messages.map(({ messageId }) => `${path} ${messageId}`),
    )
    expect(placed.sort()).toEqual([
      'INBOX <1@old.example>',
      'Sent <2@old.example>',
      'Trash <3@old.example>',
      'Work/2020_Q1/Plans <4@old.example>',
    ])
  })

  it('stores messages once on a server without MULTIAPPEND, LITERAL+ and UIDPLUS', async () => {
    const texts = Array.from({ length: 12 }, (_, i) => letter(i))
    await inMailbox(own, user(2), async (client) => {
      for (const text of texts) await client.append('INBOX', text, ['\\Flagged'])
    })
    const server = await plain({})
    const send = async () => {
      const { body } = await acme.post(`${MIGRATION}/export`, {
        source_email: user(2),
        source_password: IMAP_PASSWORD,
        target_host: '127.0.0.1',
        target_port: server.port,
        target_ssl: false,
        target_username: 'jane',
        target_password: 'any',
      })
      return endOf(acme, body.job_id)
    }
    expect(await send()).toMatchObject({ status: 'completed', migrated_messages: 12 })
    expect(server.folders.INBOX?.messages.map(({ text }) => text).sort()).toEqual(texts.sort())
    expect(server.folders.INBOX?.messages[0]?.flags).toEqual(['\\Flagged'])
    expect(await send()).toMatchObject({ error: null, status: 'completed', migrated_messages: 0 })
    expect(server.folders.INBOX?.messages).toHaveLength(12)
  })

  it('gives up on a server that sends a message or a list one byte at a time', async () => {
    await restartWith({ MIGRATION_COMMAND_SECONDS: 4 })
    const folders = { INBOX: holding(letter(1), letter(2), letter(3)) }
    const message = await plain({ folders, drip: /^UID FETCH (1:3|1:2|2:3|2) .*BODY/ })
    const job = await imported(message, user(3))
    expect(job).toMatchObject({ status: 'completed', migrated_messages: 2, failed_messages: 1 })
    const list = await plain({ folders, drip: /^(LIST|LSUB)/, dripMs: 200 })
    expect(await imported(list, user(3))).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/4 seconds/),
    })
    await waitFor(() => list.open() + message.open() === 0)
  })

  it('does not let one organization use all slots', async () => {
    const other = await app.tenant('globex')
    const account = { email: 'jane@globex.test', password: 'Tr0ub4dor-and-3-horses' }
    await other.post('/api/v1/mailboxes/email-accounts', account)
    const quick = await plain({ folders: { INBOX: holding(letter(1)) } })
    const slow = await plain({ drip: /^(LIST|LSUB)/ })
    await restartWith({ MIGRATION_MAX_CONCURRENT_JOBS: 2 })
    const ids: string[] = []
    for (const to of users) {
      ids.push((await acme.post(`${MIGRATION}/import`, bodyFor(slow, to))).body.job_id)
    }
    await waitFor(() => slow.open() === 2)
    // The password is wrong on purpose: only the attempt matters here.
    const { body } = await other.post(`${MIGRATION}/import`, bodyFor(quick, account.email))
    expect((await endOf(other, body.job_id)).status).toBe('failed')
    // The organization that yielded its slot continues.
    await waitFor(() => slow.open() === 2)
    for (const id of ids) await acme.post(`${MIGRATION}/jobs/${id}/cancel`)
    await waitFor(() => slow.open() === 0)
  })

  it('emits progress events no more often than configured', async () => {
    await restartWith({ MIGRATION_PROGRESS_SECONDS: 2 })
    const folders = Object.fromEntries(
      ['INBOX', 'A', 'B', 'C', 'D', 'E'].map((name) => [name, holding(letter(name))]),
    )
    const server = await plain({ folders, drip: /^UID SEARCH/ })
    const started = Date.now()
    const job = await imported(server, user(4))
    expect(job).toMatchObject({ error: null, status: 'completed', migrated_messages: 6 })
    const { job_id } = job
    const seconds = (Date.now() - started) / 1000
    const events = await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'migration.progress')
      .execute()
    const mine = events.filter(({ data }) => (data as { job_id: string }).job_id === job_id)
    expect(mine.length).toBeGreaterThan(0)
    expect(mine.length).toBeLessThanOrEqual(Math.ceil(seconds / 2))
  })

  it('leaves no password in logs or rows', async () => {
    const dataDir = temporaryFolder()
    const secret = 'Zebra-crossing-77-secret'
    const token = await plain({ token: secret, folders: { INBOX: holding(letter(1)) } })
    await daemon.stop()
    const running = await startServer({
      dataDir,
      args: ['--services', 'migration'],
      env: {
        DATABASE_URL: app.database.url,
        SVC_SECRET_KEY: app.core.config.SVC_SECRET_KEY ?? '',
        LOG_LEVEL: 'trace',
        ...settingsFor(own),
        MIGRATION_RETRIES: '0',
      },
    })
    const more = { source_auth: 'oauth2', source_password: secret }
    const done = await imported(token, user(5), more)
    expect(done.status).toBe('completed')
    const wrong = { ...more, target_password: 'Zebra-crossing-88-secret' }
    expect((await imported(token, user(6), wrong)).status).toBe('failed')
    const hidden = { ...more, source_port: 1 }
    expect((await imported(token, user(6), hidden)).status).toBe('failed')
    const { output } = running
    await running.stop()
    daemon = await migration.start(app.core)
    const logs = readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    expect(logs.join('').length).toBeGreaterThan(0)
    const encoded = Buffer.from(secret).toString('base64').slice(0, 20)
    const rows = await app.core.db.selectFrom('migration_jobs').selectAll().execute()
    const ended = rows.filter(({ status }) => status !== 'running' && status !== 'pending')
    expect(ended.length).toBeGreaterThan(0)
    const everything = [...logs, output.stdout, output.stderr, JSON.stringify(rows)].join('\n')
    for (const one of ['Zebra-crossing', encoded]) expect(everything).not.toContain(one)
  })
})
