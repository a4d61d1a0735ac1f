import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storage } from '../../src/daemons/storage.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing, startDovecot } from '../support/dovecot.ts'
import { signIn } from '../support/mail-program.ts'
import { insertMailbox } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'

const missing = dovecotMissing()
const PATH = '/api/v1/storage'
const QUOTA = 20_000

const letter = (bytes: number) => `Subject: x\r\n\r\n${'y'.repeat(bytes - 14)}`

describe.skipIf(missing)(`usage in a real Dovecot${missing ? `: ${missing}` : ''}`, () => {
  let app: App
  let dovecot: Dovecot
  let acme: Awaited<ReturnType<App['tenant']>>
  let operator: Awaited<ReturnType<App['operator']>>
  const email = 'jane@acme.test'
  const env: Record<string, string> = { DOVEADM_URL: 'http://127.0.0.1:9', DOVEADM_API_KEY: '' }
  beforeAll(async () => {
    // Dovecot writes into the database of the app, so the app starts first and gets its settings
    // later.
    const first = await startApp()
    dovecot = await startDovecot(
      { [email]: '{PLAIN}secret', 'john@acme.test': '{PLAIN}secret' },
      { quotas: { database: first.database.url, bytes: QUOTA } },
    )
    Object.assign(env, dovecot.env)
    app = await startApp({ env, database: first.database, daemons: [storage] })
    const stop = app.stop
    app.stop = async () => {
      await stop()
      await first.stop()
    }
    acme = await app.tenant('acme')
    operator = await app.operator('operator')
    await insertMailbox(app, acme, { email, storage_quota: QUOTA })
    await insertMailbox(app, acme, { email: 'john@acme.test', storage_quota: QUOTA })
  })
  afterAll(async () => {
    await app?.stop()
    await dovecot?.remove()
  })

  // Dovecot stores its count when a session ends, or after ten seconds of a longer one.
  const session = async <T>(work: (imap: Awaited<ReturnType<typeof signIn>>) => Promise<T>) => {
    const client = await signIn(dovecot.ports.imap, email, 'secret')
    const result = await work(client)
    await client.run('LOGOUT')
    client.close()
    return result
  }
  const append = (folder: string, bytes: number) =>
    session((client) => client.run(`APPEND ${folder}`, letter(bytes)))
  const usage = async (query = '') =>
    (await acme.get(`${PATH}/usage/mailbox/${email}${query}`)).body.data?.usage
  const alerts = async () =>
    (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
      .filter(({ event }) => event.startsWith('storage.quota.'))
      .filter(({ data }) => (data as { identifier: string }).identifier === email)
      .map(({ event }) => event)

  it('follows every message to the byte without a recount', async () => {
    expect(await append('INBOX', 1000)).toContain(' OK ')
    await waitFor(async () => (await usage())?.used_bytes === 1000)
    expect(await append('Trash', 500)).toContain(' OK ')
    await waitFor(async () => (await usage())?.used_bytes === 1500)
    expect(await usage()).toMatchObject({
      email_bytes: 1500,
      total_emails: 2,
      quota_bytes: QUOTA,
      usage_percentage: 7.5,
    })
    expect((await acme.get(`${PATH}/usage/domain/acme.test`)).body.data.usage).toMatchObject({
      used_bytes: 1500,
      total_emails: 2,
    })
    await session(async (client) => {
      await client.run('SELECT INBOX')
      await client.run('STORE 1 +FLAGS (\\Deleted)')
      await client.run('EXPUNGE')
    })
    await waitFor(async () => (await usage())?.used_bytes === 500)
  })

  it('is unchanged after a recount, also when the figure was lost', async () => {
    await sql`update edge.quota_usage set bytes = 7, messages = 7 where username = ${email}`.execute(
      app.core.db,
    )
    await waitFor(async () => (await usage())?.used_bytes === 7)
    expect(await usage('?force_calculate=true')).toMatchObject({ used_bytes: 500, total_emails: 1 })
    const domain = await acme.get(`${PATH}/usage/domain/acme.test?force_calculate=true`)
    expect(domain.body.data.usage).toMatchObject({ used_bytes: 500, complete: true })
  })

  it('emits one event when a mailbox fills up, and Dovecot refuses mail at the quota', async () => {
    for (const bytes of [15_000, 1000, 500]) {
      expect(await append('INBOX', bytes)).toContain(' OK ')
    }
    await waitFor(async () => (await usage())?.used_bytes === 17_000)
    expect(await alerts()).toEqual(['storage.quota.warning'])
    expect(await append('INBOX', 2500)).toContain(' OK ')
    await waitFor(async () => (await alerts()).length === 2)
    expect(await alerts()).toEqual(['storage.quota.warning', 'storage.quota.exceeded'])
    expect(await append('INBOX', 1000)).toContain('OVERQUOTA')
  })

  it('purges old mail from the trash on request, and no young or other mail', async () => {
    const clean = async (body: object) => {
      const answer = await operator.post(`${PATH}/cleanup`, { domain: 'acme.test', ...body })
      expect(answer.status, answer.text).toBe(200)
      return answer.body.data
    }
    const inTrash = () =>
      session(async (client) =>
        (await client.run('STATUS Trash (MESSAGES)')).includes('MESSAGES 1'),
      )
    expect(await clean({ delete_mail: true, older_than_days: 1 })).toMatchObject({
      matched_messages: 0,
      cleaned_messages: 0,
    })
    expect(await inTrash()).toBe(true)
    app.clock.advance(40 * DAY_MS)
    operator = await app.operator('operator')
    expect(await clean({})).toMatchObject({ matched_messages: 0, cleaned_messages: 0 })
    expect(await clean({ delete_mail: true, target: 'spam' })).toMatchObject({
      matched_messages: 0,
    })
    expect(await clean({ delete_mail: true, dry_run: true })).toMatchObject({
      success: true,
      matched_messages: 1,
      cleaned_messages: 0,
    })
    expect(await inTrash()).toBe(true)
    expect(await clean({ delete_mail: true })).toMatchObject({
      success: true,
      matched_messages: 1,
      cleaned_messages: 1,
    })
    expect(await inTrash()).toBe(false)
    await waitFor(async () => (await usage())?.used_bytes === 19_000)
    app.clock.advance(-40 * DAY_MS)
    operator = await app.operator('operator')
  })

  it('reports that Dovecot is stopped, keeps the last figures, and recovers by itself', async () => {
    await dovecot.stop()
    expect(await acme.get(`${PATH}/usage/mailbox/${email}?force_calculate=true`)).toMatchObject({
      status: 503,
      body: { error: 'Storage service unavailable' },
    })
    expect(
      await operator.post(`${PATH}/cleanup`, { domain: 'acme.test', delete_mail: true }),
    ).toMatchObject({ status: 503, body: { error: 'Storage service unavailable' } })
    expect(await usage()).toMatchObject({ used_bytes: 19_000 })
    await dovecot.start()
    expect(await usage('?force_calculate=true')).toMatchObject({ used_bytes: 19_000 })
  })
})
