import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, ROOT_KEY } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const PATH = '/api/v1/rag'
const EMAIL = 'jane@acme.test'
const COUNT = 1500

describe.skipIf(edgeMissing)(`an index job after kill -9${skipped}`, () => {
  let host: MailHost
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  beforeAll(async () => {
    host = await startMailHost({ elsewhere: ['rag'] })
    app = host.app
    acme = await app.tenant('acme')
    await acme.post(ACCOUNTS, { email: EMAIL, password: PASSWORD, name: 'Jane' })
    const client = await openImap({ port: host.ports.imaps })
    await client.login(EMAIL, PASSWORD)
    // RFC 3502: several messages in one command.
    const letters = Array.from({ length: COUNT }, (_, at) => {
      const text = `Subject: letter ${at}\r\n\r\n${'words of the letter '.repeat(100)}\r\n`
      return `{${text.length}+}\r\n${text}`
    })
    const appended = await client.command(`APPEND INBOX ${letters.join(' ')}`)
    expect(appended.ok, appended.status).toBe(true)
    client.end()
  })
  afterAll(async () => {
    await cleanUp()
    await host?.stop()
  })

  const worker = () =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'rag'],
      env: {
        DATABASE_URL: app.database.url,
        SVC_SECRET_KEY: ROOT_KEY,
        RAG_LEASE_SECONDS: '1',
        IMAP_HOST: '127.0.0.1',
        IMAP_PORT: String(host.ports.imaps),
        IMAP_MASTER_USER: host.edge.environment.IMAP_MASTER_USER ?? '',
        IMAP_MASTER_PASSWORD: host.edge.environment.IMAP_MASTER_PASSWORD ?? '',
      },
    })

  it('resumes and indexes every message once', async () => {
    const domain = 'acme.test'
    const allowed = { enabled_fields: ['subject', 'body'], index_mail: true }
    await acme.post(`${PATH}/rag/config/domain/${domain}`, allowed)
    const { job_id } = (await acme.post(`${PATH}/rag/index/trigger`, { domain })).body.data
    const job = () =>
      app.core.db
        .selectFrom('rag_jobs')
        .selectAll()
        .where('id', '=', job_id)
        .executeTakeFirstOrThrow()
    const first = await worker()
    const before = await waitFor(async () => {
      const { documents_indexed } = await job()
      return documents_indexed > 0 && documents_indexed
    })
    await first.killNode()
    // Otherwise no work would be left to resume.
    expect((await job()).documents_indexed).toBeLessThan(COUNT)
    expect((await job()).status).toBe('running')

    const second = await worker()
    await waitFor(async () => (await job()).status === 'complete', 150_000)
    // Each message was indexed once, by either process.
    expect(await job()).toMatchObject({ documents_indexed: COUNT, attempts: 2 })
    expect(before).toBeLessThan(COUNT)
    const rows = await app.core.db.selectFrom('rag_documents').select('subject').execute()
    expect(new Set(rows.map(({ subject }) => subject)).size).toBe(COUNT)
    expect(rows).toHaveLength(COUNT)
    expect(await second.stop()).toMatchObject({ code: 0 })
  })
})
