import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rag } from '../../src/daemons/rag.ts'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'

const PATH = '/api/v1/rag'
const FIELDS = ['subject', 'from', 'to', 'cc', 'body', 'attachments']
const EMAIL = 'jane@acme.test'

const letter = (from: string, subject: string, body: string, more = '') =>
  `From: ${from}\r\nTo: ${EMAIL}\r\nSubject: ${subject}\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\n${more}\r\n${body}\r\n`

const MULTIPART = letter(
  'Otto <otto@elsewhere.test>',
  '=?utf-8?q?Fl=C3=A4chenplan?=',
  [
    '--b\r\nContent-Type: text/html; charset=utf-8\r\n',
    '<p>The <b>walrus</b> enclosure<script>alert(1)</script> is closed.</p>',
    '--b\r\nContent-Type: text/plain; name="plan.txt"\r\nContent-Disposition: attachment; filename="plan.txt"\r\n',
    'Only penguins use the southern gate.',
    '--b--',
  ].join('\r\n'),
  'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n',
)

describe.skipIf(edgeMissing)(`search over mail in a real Dovecot${skipped}`, () => {
  let host: MailHost
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let daemon: Awaited<ReturnType<typeof rag.start>>
  beforeAll(async () => {
    host = await startMailHost()
    app = host.app
    acme = await app.tenant('acme')
    const made = await acme.post(ACCOUNTS, { email: EMAIL, password: PASSWORD, name: 'Jane' })
    expect(made.status, made.text).toBe(201)
    await append('INBOX', letter('anna@port.test', 'Harbour', 'The ferry to Ithaca sails at noon.'))
    await append('Projects/2026', MULTIPART)
    daemon = await rag.start(app.core)
  })
  afterAll(async () => {
    await daemon?.stop()
    await host?.stop()
  })

  async function inMailbox<Result>(
    work: (client: Awaited<ReturnType<typeof openImap>>) => Promise<Result>,
  ): Promise<Result> {
    const client = await openImap({ port: host.ports.imaps })
    await client.login(EMAIL, PASSWORD)
    const result = await work(client)
    client.end()
    return result
  }
  const append = (folder: string, text: string) =>
    inMailbox(async (client) => {
      await client.command(`CREATE "${folder}"`)
      const answer = await client.command(
        `APPEND "${folder}" {${Buffer.byteLength(text)}+}\r\n${text}`,
      )
      expect(answer.ok, answer.status).toBe(true)
    })
  const allow = (index_mail: boolean, more: object = {}) =>
    acme.post(`${PATH}/rag/config/domain/acme.test`, {
      enabled_fields: FIELDS,
      index_mail,
      ...more,
    })
  const status = async () => (await acme.get(`${PATH}/rag/index/status/acme.test`)).body.data
  const indexed = async (full_reindex = false) => {
    const trigger = { domain: 'acme.test', full_reindex }
    const { body } = await acme.post(`${PATH}/rag/index/trigger`, trigger)
    return waitFor(async () => {
      const job = await app.core.db
        .selectFrom('rag_jobs')
        .selectAll()
        .where('id', '=', body.data.job_id)
        .executeTakeFirst()
      if (job?.error) throw new Error(job.error)
      return job?.status === 'complete' && job
    })
  }
  const search = async (query: string, more: object = {}) => {
    const { status, body } = await acme.post(`${PATH}/search`, { query, min_score: 0.5, ...more })
    expect(status).toBe(200)
    return body.data.results
  }

  it('indexes no mail of a domain that has not opted in', async () => {
    expect(await indexed()).toMatchObject({ documents_indexed: 0 })
    expect(await search('ferry Ithaca')).toEqual([])
  })

  it('finds messages in every folder by text, HTML and attachments', async () => {
    await allow(true)
    expect(await indexed()).toMatchObject({ documents_indexed: 2 })
    const [hit] = await search('ferries to Ithaca')
    expect(hit).toMatchObject({
      mailbox: EMAIL,
      folder: 'INBOX',
      subject: 'Harbour',
      from: 'anna@port.test',
      to: EMAIL,
      date: '2026-03-02T10:00:00.000Z',
      has_attachment: false,
      source: 'mail',
    })
    expect(hit.snippet).toContain('<mark>ferry</mark> to <mark>Ithaca</mark>')
    const [html] = await search('walrus enclosure')
    expect(html).toMatchObject({ folder: 'Projects/2026', subject: 'Flächenplan' })
    expect(html.snippet).not.toContain('alert')
    expect(
      await search('penguins', { has_attachment: true, folder: 'Projects/2026' }),
    ).toHaveLength(1)
    expect(await search('penguins', { has_attachment: false })).toEqual([])
    expect(await status()).toMatchObject({
      status: 'complete',
      indexed_emails: 2,
      index_mail: true,
    })
    const events = await app.core.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('event', 'like', 'rag.indexing.%')
      .orderBy('sequence')
      .execute()
    expect(events).toMatchObject([
      { event: 'rag.indexing.started', data: { mailbox: EMAIL, document_count: 2 } },
      { event: 'rag.indexing.complete', data: { mailbox: EMAIL, documents_indexed: 2 } },
    ])
  })

  it('indexes only new messages and follows deletions and moves', async () => {
    await append('INBOX', letter('ben@port.test', 'Weather', 'A gale near Corsica is expected.'))
    expect(await indexed()).toMatchObject({ documents_indexed: 1, documents_removed: 0 })
    await inMailbox(async (client) => {
      await client.command('SELECT INBOX')
      await client.command('UID STORE 1 +FLAGS (\\Deleted)')
      await client.command('EXPUNGE')
      await client.command('DELETE "Projects/2026"')
    })
    expect(await indexed()).toMatchObject({ documents_indexed: 0, documents_removed: 2 })
    expect(await search('ferry Ithaca')).toEqual([])
    expect(await search('walrus enclosure')).toEqual([])
    expect(await search('gale Corsica')).toHaveLength(1)
  })

  it('reindexes everything on request with the current configuration', async () => {
    await allow(true, { enabled_fields: ['subject'] })
    expect(await indexed(true)).toMatchObject({ documents_indexed: 1 })
    expect(await search('gale Corsica')).toEqual([])
    expect(await search('weather')).toHaveLength(1)
    expect((await status()).indexed_emails).toBe(1)
  })

  it('deletes the index of a domain that opts out', async () => {
    await allow(false)
    expect(await search('weather')).toEqual([])
    expect(await status()).toMatchObject({ indexed_emails: 0, index_mail: false })
    const left = await app.core.db.selectFrom('rag_chunks').select('id').execute()
    expect(left).toEqual([])
  })
})
