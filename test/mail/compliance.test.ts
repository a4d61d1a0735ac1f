import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eraseDue } from '../../src/features/compliance/erasure/erasure.jobs.ts'
import { applyRetention } from '../../src/features/compliance/retention/retention.jobs.ts'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'
import { unzip } from '../support/zip.ts'

const PATH = '/api/v1/compliance'
const DAY_MS = 24 * 3_600_000
/** An address of this machine that is not loopback, which a private edge does not trust. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

describe.skipIf(edgeMissing)(`compliance on a real Dovecot${skipped}`, () => {
  let host: MailHost
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let owner: Awaited<ReturnType<App['operator']>>
  beforeAll(async () => {
    host = await startMailHost()
    app = host.app
    acme = await app.tenant('acme')
    owner = await app.operator('owner')
  })
  afterAll(() => host.stop())

  const mailbox = async (name: string) => {
    const email = `${name}@${acme.domain}`
    const answer = await acme.post(ACCOUNTS, { email, password: PASSWORD, name })
    expect(answer.status, answer.text).toBe(201)
    return { email, path: `${ACCOUNTS}/${answer.body.data.id}`, id: answer.body.data.id as string }
  }
  /** APPEND without literals that have to be waited for. */
  const append = async (email: string, folder: string, text: string, date = '') => {
    const client = await openImap({ port: host.ports.imaps })
    await client.login(email, PASSWORD)
    await client.command(`CREATE "${folder}"`)
    const size = Buffer.byteLength(text)
    const answer = await client.command(
      `APPEND "${folder}" ${date && `"${date}" `}{${size}+}\r\n${text}`,
    )
    client.end()
    expect(answer.ok, answer.status).toBe(true)
  }
  const newest = async (email: string) =>
    (await owner.get(`${PATH}/data-export/${email}/status`)).body.data.items[0]
  const exported = async (email: string) => {
    await owner.post(`${PATH}/data-export/${email}`, { requested_by: 'x' })
    const done = await waitFor(async () => {
      const found = await newest(email)
      return found.status === 'completed' && found
    }, 30_000)
    const cookie = [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(app.base + done.download_url, { headers: { cookie } })
    return { done, entries: unzip(Buffer.from(await response.arrayBuffer())) }
  }
  const onDisk = (text: string) => {
    const folder = host.edge.settings.folders.mail
    try {
      return execFileSync('grep', ['-rl', text, folder], { encoding: 'utf8' }).trim().split('\n')
    } catch {
      return []
    }
  }

  it.skipIf(outside === undefined)(
    'takes the master login from a trusted address, and from no other',
    async () => {
      const { email } = await mailbox('guarded')
      const { IMAP_MASTER_USER: master = '', IMAP_MASTER_PASSWORD: password = '' } =
        host.edge.environment
      const login = async (user: string, secret: string, from?: string) => {
        const client = await openImap({ port: host.ports.imaps, ...(from && { from }) })
        const { ok } = await client.login(user, secret)
        client.end()
        return ok
      }
      expect(await login(`${email}*${master}`, password)).toBe(true)
      expect(await login(`${email}*${master}`, password, outside)).toBe(false)
      // The address itself is no reason: the holder logs in from there.
      expect(await login(email, PASSWORD, outside)).toBe(true)
      // What the one was given is not in a cache for the other.
      expect(await login(`${email}*${master}`, password)).toBe(true)
      expect(await login(`${email}*${master}`, password, outside)).toBe(false)
    },
  )

  it('exports every message byte for byte, also of a suspended mailbox', async () => {
    const { email, path } = await mailbox('jane')
    const strange = `Subject: one\r\n\r\nbytes \u00e9\u4e16 ${'x'.repeat(700_000)}\r\n`
    await append(email, 'INBOX', strange)
    await append(email, 'Projects/2026', 'Subject: two\r\n\r\nhello\r\n')
    await acme.put(path, { status: 'suspended' })
    const { done, entries } = await exported(email)
    expect(done.contents).toMatchObject({ messages: 2, messages_gone: 0 })
    const names = [...entries.keys()]
    expect(names.filter((name) => name.endsWith('.eml')).sort()).toEqual([
      'mail/INBOX/1.eml',
      'mail/Projects%2F2026/1.eml',
    ])
    expect(entries.get('mail/INBOX/1.eml')?.toString()).toBe(strange)
    expect(entries.get('mail/INBOX/index.ndjson')?.toString()).toContain('"uid":1')
    expect(names).toEqual(expect.arrayContaining(['account.json', 'logs/mail.ndjson']))
  })

  it('waits for a Dovecot that is away, and makes the archive when it is back', async () => {
    const { email } = await mailbox('john')
    await append(email, 'INBOX', 'Subject: one\r\n\r\nx\r\n')
    await host.down()
    await owner.post(`${PATH}/data-export/${email}`, { requested_by: 'x', export_type: 'emails' })
    await waitFor(async () => (await newest(email)).error_message?.includes('unavailable'))
    await host.up()
    const done = await waitFor(async () => {
      await sql`notify mailplane_chores, 'data-exports'`.execute(app.core.db)
      const found = await newest(email)
      return found.status === 'completed' && found
    }, 40_000)
    expect(done).toMatchObject({ error_message: null, contents: { messages: 1 } })
  })

  it('deletes mail that is older than the policy says, archives what is old, and obeys holds', async () => {
    const { email } = await mailbox('old')
    const held = await mailbox('held')
    for (const one of [email, held.email]) {
      await append(one, 'INBOX', 'Subject: ancient\r\n\r\nx\r\n', '01-Jan-2020 10:00:00 +0000')
      await append(one, 'Work', 'Subject: ancient\r\n\r\nx\r\n', '01-Jan-2020 10:00:00 +0000')
      await append(one, 'INBOX', 'Subject: older\r\n\r\nx\r\n', imapDate(app, 100))
      await append(one, 'INBOX', 'Subject: young\r\n\r\nx\r\n')
    }
    const reason = 'As agreed with the customer'
    await owner.post(`${PATH}/legal-holds`, {
      organization_id: acme.organizationId,
      name: 'x',
      custodians: [held.email],
      reason,
    })
    await owner.put(`${PATH}/retention-policies/${acme.organizationId}`, {
      retention_days: 365,
      reason,
    })
    await applyRetention.run(app.core)
    const read = async (one: string, folder: string) =>
      (await mailIn(host.ports.imaps, one, PASSWORD, folder)).map(
        (text) => /Subject: (\w+)/.exec(text)?.[1],
      )
    expect(await read(email, 'INBOX')).toEqual(['young'])
    expect(await read(email, 'Archive')).toEqual(['older'])
    expect(await read(email, 'Work')).toEqual([])
    expect(await read(held.email, 'INBOX')).toEqual(['ancient', 'older', 'young'])
    const { items } = (await owner.get(`${PATH}/audit-log?action=retention.applied`)).body.data
    expect(items).toMatchObject([{ details: { messages_deleted: 2, messages_archived: 1 } }])
  })

  it('erases mail, folders and filters so that nothing of it is found on the disk', async () => {
    const { email, id } = await mailbox('gone')
    const secret = 'a-secret-that-must-go'
    await append(email, 'INBOX', `Subject: ${secret}\r\n\r\n${secret}\r\n`)
    await append(email, 'Projects/2026', `Subject: x\r\n\r\n${secret}\r\n`)
    await app.core.sieve.session(email, async (session) => {
      await session.put('mine', `# ${secret}\r\nkeep;\r\n`)
      await session.activate('mine')
    })
    expect(onDisk(secret).length).toBeGreaterThan(2)
    await owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'x' })
    const client = await openImap({ port: host.ports.imaps })
    expect((await client.login(email, PASSWORD)).ok).toBe(false)
    client.end()
    app.clock.advance(31 * DAY_MS)
    owner = await app.operator('owner')
    await eraseDue.run(app.core)
    const row = await app.core.db
      .selectFrom('data_erasures')
      .selectAll()
      .where('account_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      status: 'hard_deleted',
      removed: { mail: { messages: 2 }, rules: { scripts: 1 }, mailbox: { mailboxes: 1 } },
    })
    expect(onDisk(secret)).toEqual([])
  })
})

function imapDate(app: App, daysAgo: number): string {
  const [day, time = ''] = new Date(app.clock.now().getTime() - daysAgo * DAY_MS)
    .toISOString()
    .split('T')
  const [year = '', month = '', date = ''] = day?.split('-') ?? []
  const names = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  return `${date}-${names[Number(month) - 1]}-${year} ${time.slice(0, 8)} +0000`
}
