import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eraseDue } from '../../src/features/compliance/erasure/erasure.jobs.ts'
import { applyRetention } from '../../src/features/compliance/retention/retention.jobs.ts'
import { purgeDeletedMailboxes } from '../../src/features/mailboxes/deleted/purge-deleted.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'
import { unzip } from '../support/zip.ts'

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'
/** An IP address of this machine that is not loopback, which a private edge does not trust. */
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
  /** APPEND with a non-synchronizing literal. */
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
    })
    const cookie = [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(app.base + done.download_url, { headers: { cookie } })
    return { done, entries: unzip(Buffer.from(await response.arrayBuffer())) }
  }
  /** A hold that the mail servers follow. */
  const place = async (custodians: string[]) => {
    const { body } = await owner.post(`${PATH}/legal-holds`, {
      organization_id: acme.organizationId,
      name: 'Case 12',
      custodians,
      reason: REASON,
    })
    await followed(body.data.id)
    return body.data.id as number
  }
  const release = async (id: number) => {
    const { status } = await owner.post(`${PATH}/legal-holds/${id}/release`, { reason: REASON })
    expect(status).toBe(200)
    await followed(id)
  }
  const followed = (id: number) =>
    waitFor(async () => {
      const { items } = (await owner.get(`${PATH}/legal-holds`)).body.data
      return items.find((one: { id: number }) => one.id === id)?.enforced_at
    })
  /** The database notes by its own clock when a mailbox was deleted. */
  const resetClock = async () => {
    app.clock.reset()
    owner = await app.operator('owner')
  }
  /** The rights of members; the mailbox itself keeps all of its own. */
  const rightsOf = async (user: string) => {
    const [answer] = await app.core.doveadm.run([['aclGet', { user, mailbox: 'INBOX' }]])
    return JSON.stringify(answer?.rows?.filter(({ id }) => id !== 'owner'))
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
    'accepts the master login from a trusted IP address only',
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
      // The IP address itself is not refused: the holder can log in from it.
      expect(await login(email, PASSWORD, outside)).toBe(true)
      // The result of one login is not cached for the other.
      expect(await login(`${email}*${master}`, password)).toBe(true)
      expect(await login(`${email}*${master}`, password, outside)).toBe(false)
    },
  )

  it('exports every message byte for byte, including those of a suspended mailbox (B1.2)', async () => {
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

  it('waits while Dovecot is down and builds the archive when it is back', async () => {
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
    })
    expect(done).toMatchObject({ error_message: null, contents: { messages: 1 } })
  })

  it('deletes mail older than the policy, archives old mail, and respects legal holds', async () => {
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
    const policy = `${PATH}/retention-policies/${acme.organizationId}`
    const fields = { retention_days: 365, auto_archive: true }
    const preview = await owner.get(`${policy}/preview?retention_days=365&auto_archive=true`)
    expect(preview.body.data).toMatchObject({
      counts: { messages_deleted: 2, messages_archived: 1 },
      mailboxes_held: 1,
    })
    await owner.put(policy, { ...fields, reason })
    await applyRetention.run(app.core)
    expect(await mailIn(host.ports.imaps, email, PASSWORD, 'Work')).toHaveLength(1)
    app.clock.advance(7 * DAY_MS)
    owner = await app.operator('owner')
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

  it('erases mail, folders and filters so that nothing remains on disk', async () => {
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

  it('keeps what a holder expunges under a legal hold until the release (B1.3)', async () => {
    const { email } = await mailbox('custodian')
    const text = (secret: string) => `Subject: x\r\n\r\n${secret}\r\n`
    await append(email, 'INBOX', text('held-in-the-inbox'))
    await append(email, 'Case', text('held-in-a-folder'))
    const before = await openImap({ port: host.ports.imaps })
    await before.login(email, PASSWORD)
    const hold = await place([email])
    // A session that began before the hold would expunge for good, so it was ended.
    await waitFor(() =>
      before.command('NOOP').then(
        () => false,
        () => true,
      ),
    )

    const client = await openImap({ port: host.ports.imaps })
    await client.login(email, PASSWORD)
    await client.command('SELECT INBOX')
    await client.command('STORE 1:* +FLAGS (\\Deleted)')
    expect((await client.command('EXPUNGE')).ok).toBe(true)
    await client.command('CLOSE')
    expect((await client.command('DELETE Case')).ok).toBe(true)
    // The holder neither sees nor deletes what is kept.
    expect((await client.command('SELECT .KEPT/INBOX')).ok).toBe(false)
    expect((await client.command('DELETE .KEPT/Case')).ok).toBe(false)
    const listed = await client.command('LIST "" ".KEPT/*"')
    expect(JSON.stringify(listed)).not.toContain('.KEPT/')
    client.end()

    // Work with the master login, such as the search index, does not come across it either.
    const master = await openImap({ port: host.ports.imaps })
    const { IMAP_MASTER_USER, IMAP_MASTER_PASSWORD = '' } = host.edge.environment
    await master.login(`${email}*${IMAP_MASTER_USER}`, IMAP_MASTER_PASSWORD)
    expect(JSON.stringify(await master.command('LIST "" "*"'))).not.toContain('.KEPT')
    master.end()

    const kept = await owner.get(`${PATH}/kept-mail/${email}`)
    expect(kept.body.data.folders.map(({ folder }: { folder: string }) => folder).sort()).toEqual([
      'Case',
      'INBOX',
    ])
    const { entries } = await exported(email)
    const mails = [...entries].filter(([name]) => name.endsWith('.eml')).map(([, one]) => `${one}`)
    expect(mails.join()).toContain('held-in-the-inbox')
    expect(mails.join()).toContain('held-in-a-folder')
    const restored = await owner.post(`${PATH}/kept-mail/${email}/restore`, { reason: REASON })
    expect(restored.body.data).toMatchObject({ messages: 2, restored_to: 'Recovered' })
    expect(await mailIn(host.ports.imaps, email, PASSWORD, 'Recovered')).toHaveLength(2)

    await release(hold)
    expect((await owner.get(`${PATH}/kept-mail/${email}`)).body.data.messages).toBe(0)
    expect(onDisk('held-in-the-inbox').every((file) => file.includes('.Recovered'))).toBe(true)
  })

  it('lets no member expunge mail of a shared mailbox under a legal hold (B1.3)', async () => {
    const member = await mailbox('member')
    const email = `desk@${acme.domain}`
    const { body } = await acme.post('/api/v1/shared-mailboxes', { email, name: 'Desk' })
    await acme.post(`/api/v1/shared-mailboxes/${body.data.id}/members`, {
      email_account_id: member.email,
      permission: 'full_access',
    })
    await host.receive(email, 'evidence')
    const folder = `Shared/${email}`
    await host.arrived(member.email, 'evidence', { folder })
    const hold = await place([email])
    const expunge = async () => {
      const client = await openImap({ port: host.ports.imaps })
      await client.login(member.email, PASSWORD)
      await client.command(`SELECT "${folder}"`)
      await client.command('STORE 1:* +FLAGS (\\Deleted)')
      await client.command('EXPUNGE')
      client.end()
      return (await mailIn(host.ports.imaps, member.email, PASSWORD, folder)).length
    }
    await waitFor(async () => !(await rightsOf(email)).includes('expunge'))
    expect(await expunge()).toBe(1)
    await release(hold)
    await waitFor(async () => (await rightsOf(email)).includes('expunge'))
    expect(await expunge()).toBe(0)
  })

  it('removes the mail of a deleted mailbox after 30 days, but not under a legal hold (B1.8)', async () => {
    await resetClock()
    const gone = await mailbox('left')
    const held = await mailbox('left-held')
    await append(gone.email, 'Private/2026', 'Subject: x\r\n\r\nleft-behind\r\n')
    await append(held.email, 'INBOX', 'Subject: x\r\n\r\nheld-behind\r\n')
    for (const { path } of [gone, held]) expect((await acme.delete(path)).status).toBe(200)
    const hold = await place([held.email])
    const { entries } = await exported(gone.email)
    expect([...entries.keys()].filter((name) => name.endsWith('.eml'))).toEqual([
      `deleted-mail/${gone.id}/Private%2F2026/1.eml`,
    ])
    await purgeDeletedMailboxes.run(app.core)
    expect(onDisk('left-behind')).toHaveLength(1)
    app.clock.advance(31 * DAY_MS)
    owner = await app.operator('owner')
    await purgeDeletedMailboxes.run(app.core)
    expect(onDisk('left-behind')).toEqual([])
    expect(onDisk('held-behind')).toHaveLength(1)
    await release(hold)
    await purgeDeletedMailboxes.run(app.core)
    expect(onDisk('held-behind')).toEqual([])
  })

  it('erases the mail of a suspended and of a deleted mailbox (B1.1, B1.8)', async () => {
    await resetClock()
    const suspended = await mailbox('suspended')
    const deleted = await mailbox('deleted')
    await append(suspended.email, 'INBOX', 'Subject: x\r\n\r\nsuspended-secret\r\n')
    await append(deleted.email, 'INBOX', 'Subject: x\r\n\r\ndeleted-secret\r\n')
    await acme.put(suspended.path, { status: 'suspended' })
    await acme.delete(deleted.path)
    // The job that removes deleted mailboxes has failed at this one, and tries again later.
    const later = new Date(app.clock.now().getTime() + 90 * DAY_MS).toISOString()
    await app.core.db
      .updateTable('deleted_mailboxes')
      .set({ due_at: later })
      .where('id', '=', deleted.id)
      .execute()
    for (const { email } of [suspended, deleted]) {
      const answer = await owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'x' })
      expect(answer.status).toBe(201)
    }
    app.clock.advance(31 * DAY_MS)
    owner = await app.operator('owner')
    await eraseDue.run(app.core)
    for (const { email } of [suspended, deleted]) {
      const erasures = async () =>
        (await owner.get(`${PATH}/data-erasure/${email}/status`)).body.data.items
      // The job of the app may have taken it before this one.
      await waitFor(async () => (await erasures())[0].status !== 'soft_deleted')
      const items = await erasures()
      expect(items[0], email).toMatchObject({ status: 'hard_deleted', error_message: null })
      expect(items[0].removed.deleted_mail, email).toMatchObject({ mailboxes: 1 })
    }
    expect(onDisk('suspended-secret')).toEqual([])
    expect(onDisk('deleted-secret')).toEqual([])
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
