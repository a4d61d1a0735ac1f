import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { insertMailbox } from '../support/mailboxes.ts'
import { letter } from '../support/migration.ts'
import { startPlainImap } from '../support/plain-imap.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'
import { unzip } from '../support/zip.ts'

const PATH = '/api/v1/compliance/data-export'
const messages = Array.from({ length: 3 }, (_, i) => ({
  text: letter(i),
  flags: [],
  date: '02-Mar-2020 10:00:00 +0000',
}))

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterEach(cleanUp)
afterAll(() => app.stop())

it('an export whose process was killed is never offered half written and is made again by the next process', async () => {
  app.clock.advance(-600_000)
  const acme = await app.tenant('acme')
  const owner = await app.operator('owner')
  const jane = await insertMailbox(app, acme)
  const cookie = [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const dataDir = temporaryFolder()
  // The second message is so slow that the kill happens while the archive is half written.
  const slow = await startPlainImap({
    folders: { INBOX: { messages } },
    drip: /^UID FETCH 2 .*BODY/,
    dripMs: 500,
  })
  const quick = await startPlainImap({ folders: { INBOX: { messages } } })
  const process = (imap: { port: number }) =>
    startServer({
      dataDir,
      args: ['--services', 'api,worker'],
      env: {
        DATABASE_URL: app.database.url,
        SVC_SECRET_KEY: app.core.config.SVC_SECRET_KEY ?? '',
        SVC_COOKIE_SECURE: 'false',
        IMAP_HOST: '127.0.0.1',
        IMAP_PORT: String(imap.port),
        IMAP_TLS: 'false',
        IMAP_MASTER_USER: 'master',
        IMAP_MASTER_PASSWORD: 'secret',
      },
    })
  // Due by the clock of the processes, but not by the clock of the test, which must not run it.
  const row = { organization_id: acme.organizationId, account_id: jane.id, user_email: jane.email }
  const id = `export-${jane.id}`
  const exports = () => app.core.db.updateTable('data_exports').where('id', '=', id)
  await app.core.db
    .insertInto('data_exports')
    .values({
      ...row,
      id,
      export_type: 'emails',
      requested_by: 'jane',
      due_at: new Date(Date.now() - 1000).toISOString(),
      created_at: new Date().toISOString(),
    })
    .execute()
  const attempts = async () =>
    (
      await app.core.db
        .selectFrom('data_export_parts')
        .select('file_name')
        .distinct()
        .where('export_id', '=', id)
        .execute()
    ).map(({ file_name }) => file_name)
  const download = (base: string) =>
    fetch(`${base}${PATH}/${encodeURIComponent(jane.email)}/download/${id}`, {
      headers: { cookie },
    })
  const until = (status: string) =>
    waitFor(async () => {
      const { body } = await owner.get(`${PATH}/${jane.email}/status`)
      return body.data.items[0].status === status
    })
  try {
    const first = await process(slow)
    await waitFor(() => slow.seen.some((command) => /^UID FETCH 2 .*BODY/.test(command)))
    await first.killNode()
    expect((await owner.get(`${PATH}/${jane.email}/status`)).body.data.items[0]).toMatchObject({
      status: 'processing',
      download_url: null,
    })
    // As if the lease of one minute had expired.
    await exports().set({ lease_until: '-infinity' }).execute()
    const second = await process(quick)
    await until('completed')
    const response = await download(second.base)
    expect(response.status).toBe(200)
    const entries = unzip(Buffer.from(await response.arrayBuffer()))
    expect(entries.get('mail/INBOX/3.eml')?.toString()).toBe(messages[2]?.text)
    expect(await attempts()).toHaveLength(1)
    await second.stop()
  } finally {
    await slow.stop()
    await quick.stop()
  }
})
