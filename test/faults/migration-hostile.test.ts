import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migration } from '../../src/daemons/migration.ts'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing } from '../support/dovecot.ts'
import { type Behaviour, startHostileImap } from '../support/hostile-imap.ts'
import {
  contentsOf,
  endOf,
  imapServer,
  importBody,
  MIGRATION,
  settingsFor,
} from '../support/migration.ts'
import { waitFor } from '../support/wait.ts'

const missing = dovecotMissing()
const ADDRESS = 'admin@acme.test'

describe.skipIf(missing)('a migration from a hostile server', () => {
  let own: Dovecot
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let daemon: Awaited<ReturnType<typeof migration.start>>

  beforeAll(async () => {
    own = await imapServer(ADDRESS)
    app = await startApp({ env: { ...settingsFor(own), MIGRATION_RETRIES: '1' } })
    acme = await app.tenant('acme')
    daemon = await migration.start(app.core)
  })
  afterAll(async () => {
    await daemon?.stop()
    await app?.stop()
    await own?.remove()
  })

  async function against(behaviour: Behaviour, username: string = behaviour) {
    const server = await startHostileImap(behaviour)
    try {
      const more = { source_port: server.port, source_ssl: false, source_username: username }
      const pair = { source: own, from: username, to: ADDRESS }
      const { body } = await acme.post(`${MIGRATION}/import`, importBody(pair, more))
      const before = process.memoryUsage().rss
      const job = await endOf(acme, body.job_id)
      const { errors } = (await acme.get(`${MIGRATION}/jobs/${body.job_id}/errors`)).body
      await waitFor(() => server.open() === 0)
      return { job, errors, grown: process.memoryUsage().rss - before }
    } finally {
      await server.stop()
    }
  }

  it.each<Behaviour>(['endless-greeting', 'endless-line', 'huge-literal', 'bye', 'garbage'])(
    'fails with a reason and bounded memory when the server sends: %s',
    async (behaviour) => {
      const { job, grown } = await against(behaviour)
      expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('127.0.0.1') })
      expect(grown).toBeLessThan(150 * 1024 * 1024)
    },
  )

  it.each<Behaviour>(['silent', 'silent-list'])(
    'fails with its reason within 30 seconds when the server greets and then is: %s',
    async (behaviour) => {
      const { job, errors } = await against(behaviour)
      const reason = expect.stringContaining('127.0.0.1 does not respond for 25 seconds')
      expect(job).toMatchObject({ status: 'failed', error: reason })
      expect(errors).toMatchObject([{ error_type: 'job_failed', error_message: reason }])
      const seconds = (Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000
      expect(seconds).toBeLessThan(30)
    },
  )

  it('fails on an endless literal', async () => {
    const { job, grown } = await against('endless-literal')
    expect(job).toMatchObject({ migrated_messages: 0 })
    expect(grown).toBeLessThan(150 * 1024 * 1024)
  })

  it('ignores messages that it did not request', async () => {
    const { job, errors } = await against('wrong-uids')
    expect(job).toMatchObject({ status: 'completed', migrated_messages: 0, failed_messages: 3 })
    expect(errors.map((one: { error_type: string }) => one.error_type)).toEqual(
      Array(3).fill('fetch_failed'),
    )
    expect((await contentsOf(own, ADDRESS)).INBOX).toEqual([])
  })

  it('copies the other messages when one message breaks the connection every time', async () => {
    const { job, errors } = await against('hang-up-in-message')
    expect(job).toMatchObject({ status: 'completed', migrated_messages: 2, failed_messages: 1 })
    expect(errors).toMatchObject([
      { folder: 'INBOX', message_uid: '2', error_type: 'connection_lost', retryable: true },
    ])
    expect((await contentsOf(own, ADDRESS)).INBOX).toHaveLength(2)
  })

  it('never connects to an IP address that is not allowed', async () => {
    const guarded = await startApp({ env: { ...settingsFor(own), SVC_OUTBOUND_ALLOW: '' } })
    let running: typeof daemon | undefined
    try {
      const tenant = await guarded.tenant('acme')
      const pair = { source: own, from: ADDRESS, to: ADDRESS }
      const refused = await tenant.post(`${MIGRATION}/import`, importBody(pair))
      expect(refused.status).toBe(422)
      const named = importBody(pair, { source_host: 'imap.example.com' })
      const { job_id } = (await tenant.post(`${MIGRATION}/import`, named)).body
      // A host name is checked when it resolves to such an IP address.
      await guarded.core.db
        .updateTable('migration_jobs')
        .set({ remote_host: 'mail.localhost' })
        .where('id', '=', job_id)
        .execute()
      running = await migration.start(guarded.core)
      const { status, error } = await endOf(tenant, job_id)
      expect([status, error]).toEqual(['failed', expect.stringContaining('SVC_OUTBOUND_ALLOW')])
    } finally {
      await running?.stop()
      await guarded.stop()
    }
  })
})
