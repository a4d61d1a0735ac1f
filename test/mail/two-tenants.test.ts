import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { openManageSieve } from '../support/managesieve-client.ts'
import { describedRoutes } from '../support/references.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { holderView, rowsOfOrganization } from '../support/tenant-view.ts'
import { waitFor } from '../support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'
const NOBODY = 'nobody@victim.test'
const JANE = 'jane@victim.test'
const DESK = 'desk@victim.test'
const EVIL = 'admin@evil.test'
/** Text in mail of the victim that no other tenant may see anywhere. */
const SECRET = 'b-secret'

/** Tables of the mail path: nothing of the attacker adds, changes or removes a row of the victim. */
const MAIL_PATH = `mail_log quarantine blocked_senders suppressions transport_rules dlp_policies
  dlp_violations tracked_messages tracking_events rate_limit_rules webhook_endpoints`.split(/\s+/)

type Tenant = Awaited<ReturnType<MailHost['app']['tenant']>>

describe.skipIf(edgeMissing)(`one tenant against another, on every protocol${skipped}`, () => {
  let host: MailHost
  let evil: Tenant
  let victim: Tenant
  let login: { username: string; secret: string; id: string }
  let ofVictim: typeof login
  /** The data that the victim sees and that is stored about it, before and after the attacks. */
  let before: Awaited<ReturnType<typeof viewOfVictim>>

  beforeAll(async () => {
    const limits = ['MAILBOX', 'DOMAIN', 'ORG'].flatMap((level) =>
      ['SECOND', 'MINUTE', 'HOURLY'].map((window) => [`${level}_OUTBOUND_${window}_DEFAULT`, '0']),
    )
    host = await startMailHost({ env: Object.fromEntries(limits) })
    evil = await host.app.tenant('evil')
    victim = await host.app.tenant('victim')
    login = await credentialOf(evil)
    ofVictim = await credentialOf(victim)
    await furnish()
    before = await viewOfVictim()
  })
  afterAll(() => host.stop())

  const credentialOf = async (tenant: Tenant) =>
    (await tenant.post('/api/v1/smtp-credentials/', { domain_id: tenant.domainId })).body.data

  /** Mailboxes, a shared mailbox, a folder, a filter and mail in and out of the victim. */
  async function furnish() {
    const made = await victim.post(ACCOUNTS, { email: JANE, password: PASSWORD })
    expect(made.status).toBe(201)
    const shared = await victim.post('/api/v1/shared-mailboxes', { email: DESK, name: 'Desk' })
    const members = `/api/v1/shared-mailboxes/${shared.body.data.id}/members`
    expect((await victim.post(members, { email_account_id: JANE })).status).toBe(200)
    const holder = await openImap({ port: host.ports.imaps })
    expect((await holder.login(JANE, PASSWORD)).ok).toBe(true)
    expect((await holder.command('CREATE Private')).ok).toBe(true)
    holder.end()
    const scripts = await openManageSieve(host.ports.sieve)
    await scripts.login(JANE, PASSWORD)
    expect(await scripts.put('mine', `# ${SECRET}\r\nkeep;`)).toMatch(/^OK/)
    scripts.end()
    expect((await host.receive(JANE, `in ${SECRET}`)).code).toBe(250)
    await host.arrived(JANE, `in ${SECRET}`)
    await readAllFolders()
    const client = await host.submission()
    await client.auth(ofVictim.username, ofVictim.secret)
    const from = 'app@victim.test'
    const text = message(from, 'x@outside.test', `out ${SECRET}`)
    expect((await client.send({ from, to: 'x@outside.test', text })).code).toBe(250)
    client.quit()
    await waitFor(() => host.sink.to('x@outside.test')[0])
    await waitFor(async () => {
      const rows = await rowsOfOrganization(host.app, victim.organizationId)
      return rows.filter((row) => /^mail_log .*"status":"delivered"/.test(row)).length >= 2
    })
  }

  /** Dovecot stores the state of each folder in an index of all folders, once it is old enough. */
  async function readAllFolders() {
    const holder = await openImap({ port: host.ports.imaps })
    await holder.login(JANE, PASSWORD)
    for (let times = 0; times < 3; times++) {
      await holder.command('LIST "" "*" RETURN (STATUS (MESSAGES UNSEEN))')
      await sleep(1100)
    }
    holder.end()
  }

  async function viewOfVictim() {
    await host.app.core.access.settled()
    const { sieve, imaps } = host.ports
    const get = async (path: string) => (await victim.get(path)).body.data
    const counted = async (path: string) =>
      (await get(`/api/v1/rate-limiter/rate-limits/${path}`)).usage.hourly_count
    return {
      rows: (await rowsOfOrganization(host.app, victim.organizationId)).filter((row) =>
        MAIL_PATH.includes(row.split(' ')[0] as string),
      ),
      jane: await holderView({ sieve, imaps }, JANE, PASSWORD),
      admin: await holderView({ sieve, imaps }, victim.email, PASSWORD),
      sentByLogin: (await get(`/api/v1/smtp-credentials/${ofVictim.id}/usage`)).by_status,
      counted: [await counted(`mailbox/${JANE}`), await counted(`domain/${victim.domain}`)],
      sent: host.sink.got.filter(({ from }) => from.endsWith('victim.test')).length,
    }
  }

  /** A connection to submission with the credential, or with the mailbox, of the attacker. */
  async function submission(user = login.username, password = login.secret) {
    const client = await host.submission()
    expect((await client.auth(user, password)).code).toBe(235)
    return client
  }
  /** Waits until mail of the attacker that was sent last has been delivered. */
  async function settled(subject: string) {
    expect((await host.receive(EVIL, subject)).code).toBe(250)
    await host.arrived(EVIL, subject)
  }

  it('cannot send as the other over SMTP', async () => {
    for (const [user, password] of [
      [login.username, login.secret],
      [EVIL, PASSWORD],
    ]) {
      const client = await submission(user, password)
      const own = user === EVIL ? EVIL : 'app@evil.test'
      for (const from of [JANE, DESK, NOBODY, `x@sub.victim.test`, `"${JANE}"@evil.test`]) {
        const text = message(from, 'y@outside.test', 'forged')
        const reply = await client.send({ from, to: 'y@outside.test', text })
        expect(reply.code, reply.text).toBeGreaterThanOrEqual(500)
        await client.say('RSET')
      }
      for (const header of [`From: ${JANE}`, `From: ${own}\nSender: ${JANE}`]) {
        const text = `${header}\nSubject: forged\n\nx`
        expect((await client.send({ from: own, to: 'y@outside.test', text })).code).toBe(554)
      }
      // The AUTH parameter and XCLIENT claim another login.
      await client.say('RSET')
      await client.say(`MAIL FROM:<${own}> AUTH=<${JANE}>`)
      await client.say('RSET')
      expect((await client.say(`XCLIENT LOGIN=${JANE}`)).code).toBeGreaterThanOrEqual(500)
      client.quit()
    }
    const outside = await openSmtp({ port: host.ports.smtp })
    expect((await outside.say(`XCLIENT LOGIN=${JANE}`)).code).toBeGreaterThanOrEqual(500)
    const relayed = message(JANE, 'y@outside.test', 'forged')
    const reply = await outside.send({ from: JANE, to: 'y@outside.test', text: relayed })
    expect(reply.code).toBe(554)
    outside.quit()
    expect(host.sink.to('y@outside.test')).toEqual([])
  })

  it('learns nothing about addresses of the other from a login or an address command', async () => {
    const answerAbout = async (user: string, attempt: (user: string) => Promise<string>) =>
      (await attempt(user)).replaceAll(user, 'NAME').replace(/^t\d+ |\[.*?\]/g, '')
    const same = async (attempt: (user: string) => Promise<string>) =>
      expect(await answerAbout(JANE, attempt)).toBe(await answerAbout(NOBODY, attempt))
    await same(async (user) => {
      const client = await host.submission()
      const { text } = await client.auth(user, 'wrong')
      client.quit()
      return text
    })
    await same(async (user) => {
      const imap = await openImap({ port: host.ports.imaps })
      const { status } = await imap.login(user, 'wrong')
      imap.end()
      return status
    })
    await same(async (user) => {
      const scripts = await openManageSieve(host.ports.sieve)
      const reply = await scripts.login(user, 'wrong')
      scripts.end()
      return reply
    })
    const client = await submission()
    await same(async (user) => (await client.say(`VRFY ${user}`)).text)
    await same(async (user) => (await client.say(`EXPN ${user}`)).text)
    client.quit()
    const imap = await openImap({ port: host.ports.imaps })
    await imap.login(EVIL, PASSWORD)
    for (const text of [
      (user: string) => `SETACL INBOX ${user} lrs`,
      (user: string) => `LISTRIGHTS INBOX ${user}`,
      (user: string) => `SELECT "Shared/${user}/INBOX"`,
      (user: string) => `STATUS "Shared/${user}" (MESSAGES)`,
      (user: string) => `GETACL "Shared/${user}"`,
      (user: string) => `LIST "" "Shared/${user}/*"`,
    ]) {
      await same(async (user) => {
        const { lines, status } = await imap.command(text(user))
        return [...lines, status.replace(/\(\d.*$/, '')].join('\n')
      })
    }
    imap.end()
  })

  it('sees and changes no folder of the other over IMAP', async () => {
    const imap = await openImap({ port: host.ports.imaps })
    expect((await imap.login(EVIL, PASSWORD)).ok).toBe(true)
    const seen: string[] = []
    for (const text of ['NAMESPACE', 'LIST "" "*"', 'LIST "" "Shared/*"', 'LSUB "" "*"']) {
      seen.push(...(await imap.command(text)).lines)
    }
    expect(seen.join('\n')).not.toContain('victim')
    const folders = [JANE, DESK, victim.email].flatMap((user) => [
      `Shared/${user}`,
      `Shared/${user}/INBOX`,
      `Shared/${user}/Private`,
    ])
    for (const folder of [...folders, `../${JANE}/Maildir`, `~${JANE}/INBOX`, `/${JANE}/INBOX`]) {
      for (const text of [
        `SELECT "${folder}"`,
        `STATUS "${folder}" (MESSAGES)`,
        `GETACL "${folder}"`,
        // A name in the own namespace answers with the rights of its owner, also without a folder.
        ...(folder.startsWith('Shared/') ? [`MYRIGHTS "${folder}"`] : []),
        `SETACL "${folder}" ${EVIL} lrswipkxtea`,
        `DELETEACL "${folder}" ${JANE}`,
        `CREATE "${folder}/Bait"`,
        `RENAME "${folder}" Stolen`,
        `DELETE "${folder}"`,
      ]) {
        expect(`${text}: ${(await imap.command(text)).ok}`).toBe(`${text}: false`)
      }
    }
    imap.end()
    // A master login is for the control plane only.
    for (const user of [`${JANE}*${EVIL}`, `${EVIL}*${JANE}`]) {
      const other = await openImap({ port: host.ports.imaps })
      expect((await other.login(user, PASSWORD)).ok).toBe(false)
      other.end()
    }
  })

  it('writes no filter of the other over ManageSieve, and none that reaches its folders', async () => {
    for (const asUser of [JANE, victim.email]) {
      const refused = await openManageSieve(host.ports.sieve)
      expect(await refused.login(EVIL, PASSWORD, asUser)).toMatch(/^NO/)
      refused.end()
    }
    const own = async () => {
      const client = await openManageSieve(host.ports.sieve)
      expect(await client.login(EVIL, PASSWORD)).toMatch(/^OK/)
      return client
    }
    for (const name of [`../../${JANE}/sieve/mine`, `/${JANE}/mine`, '../mine']) {
      const writer = await own()
      expect(await writer.put(name, 'discard;')).toMatch(/^NO/)
      writer.end()
      const reader = await own()
      expect((await reader.command(`GETSCRIPT "${name}"`)).join('')).not.toContain(SECRET)
      reader.end()
    }
    const scripts = await own()
    const script = [
      'require ["fileinto", "mailbox", "copy"];',
      `fileinto :copy :create "Shared/${JANE}/INBOX";`,
    ]
    expect(await scripts.put('reach', script.join('\r\n'))).toMatch(/^OK/)
    expect(await scripts.command('SETACTIVE "reach"')).toContainEqual(expect.stringMatching(/^OK/))
    await settled('reaching')
    // A loop of redirects between two mailboxes of the attacker comes to an end.
    const two = 'two@evil.test'
    expect((await evil.post(ACCOUNTS, { email: two, password: PASSWORD })).status).toBe(201)
    await scripts.put('reach', `require "copy"; redirect :copy "${two}";`)
    scripts.end()
    const other = await openManageSieve(host.ports.sieve)
    await other.login(two, PASSWORD)
    await other.put('back', `require "copy"; redirect :copy "${EVIL}";`)
    await other.command('SETACTIVE "back"')
    other.end()
    await settled('looping')
    await host.arrived(two, 'looping')
    await settled('after the loop')
    const copies = (await mailIn(host.ports.imaps, EVIL, PASSWORD)).filter((text) =>
      text.includes('Subject: looping'),
    )
    expect(copies.length).toBeLessThan(5)
  })

  it('reaches the other with no header of a message', async () => {
    const headers = [
      `Bcc: ${JANE}`,
      `Resent-To: ${JANE}`,
      `Resent-From: ${JANE}`,
      `Return-Path: <${JANE}>`,
      `Errors-To: ${JANE}`,
      `Delivered-To: ${JANE}`,
      `X-Original-To: ${JANE}`,
      `Disposition-Notification-To: ${JANE}`,
      `Return-Receipt-To: ${JANE}`,
      `X-Sieve-Redirected-From: ${JANE}`,
      `X-Mailplane-Origin: ${'0'.repeat(64)} ${ofVictim.username}`,
      `X-Svc-ID: ${victim.organizationId}`,
      `List-Id: <${victim.domain}>`,
    ].join('\n')
    const client = await submission(EVIL, PASSWORD)
    for (const to of ['z@outside.test', EVIL, 'z@reject.outside.test']) {
      const text = `${headers}\n${message(EVIL, to, 'named in headers')}`
      expect((await client.send({ from: EVIL, to, text })).code).toBe(250)
    }
    client.quit()
    await waitFor(() => host.sink.to('z@outside.test')[0])
    await host.arrived(EVIL, 'named in headers')
    const mx = await openSmtp({ port: host.ports.smtp })
    const text = `${headers}\n${message(JANE, EVIL, 'named from outside')}`
    expect((await mx.send({ from: 'x@elsewhere.test', to: EVIL, text })).code).toBe(250)
    mx.quit()
    await host.arrived(EVIL, 'named from outside')
    expect(host.sink.got.filter(({ to }) => to.some((one) => one.endsWith('victim.test')))).toEqual(
      [],
    )
  })

  it('finds nothing of the other in any list of the API', async () => {
    const marks = [SECRET, victim.organizationId, victim.domainId, ofVictim.id, ofVictim.username]
    const lists = describedRoutes().filter(
      ({ method, label, path }) =>
        method === 'GET' && label.startsWith('Key(') && !path.includes('{'),
    )
    expect(lists.length).toBeGreaterThan(15)
    const queries = ['', `?domain=${victim.domain}`, `?organization_id=${victim.organizationId}`]
    for (const { path } of lists) {
      for (const query of queries) {
        const { text } = await evil.get(`${path}${query}`)
        const said = marks.filter((mark) => !query.includes(mark) && text.includes(mark))
        expect(`${path}${query}: ${said}`).toBe(`${path}${query}: `)
      }
    }
    for (const path of [
      `/api/v1/smtp-credentials/${ofVictim.id}/usage`,
      `/api/v1/rate-limiter/rate-limits/mailbox/${JANE}`,
      `/api/v1/rate-limiter/rate-limits/domain/${victim.domain}`,
      `/api/v1/tracking/stats/domain/${victim.domain}`,
      `/api/v1/storage/usage/mailbox/${JANE}`,
      `/api/v1/filters/?email=${JANE}`,
    ]) {
      expect(`${path} ${(await evil.get(path)).status}`).toBe(`${path} 404`)
    }
    expect((await evil.get('/api/v1/message-trace/trace')).status).toBe(403)
    expect((await evil.get('/api/v1/message-trace/quarantine')).status).toBe(403)
  })

  it('has changed nothing that the other sees or that is stored about it', async () => {
    await settled('last')
    expect(await viewOfVictim()).toEqual(before)
    const all = await rowsOfOrganization(host.app, victim.organizationId)
    const names = ['evil.test', evil.organizationId, login.username, 'forged', 'y@outside.test']
    expect(all.filter((row) => names.some((name) => row.includes(name)))).toEqual([])
  })

  it('does not delay mail of the other with a flood', async () => {
    const [connections, each] = [10, 25]
    let accepted = 0
    const flood = Array.from({ length: connections }, async () => {
      const client = await submission(EVIL, PASSWORD)
      for (let n = 0; n < each; n++) {
        const text = message(EVIL, 'flood@outside.test', 'flood', 'x'.repeat(20_000))
        const { code } = await client.send({ from: EVIL, to: 'flood@outside.test', text })
        if (code === 250) accepted++
      }
      client.quit()
    })
    await waitFor(() => accepted >= connections)
    expect((await host.receive(JANE, 'in the flood')).code).toBe(250)
    await host.arrived(JANE, 'in the flood')
    const atArrival = host.sink.to('flood@outside.test').length
    expect(atArrival).toBeLessThan(connections * each)
    await Promise.all(flood)
    expect(accepted).toBe(connections * each)
  })
})
