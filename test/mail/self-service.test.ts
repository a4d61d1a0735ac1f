import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { type SieveServer, sieveMissing, startSieveServer } from '../support/dovecot-sieve.ts'
import { waitFor } from '../support/wait.ts'

const missing = sieveMissing()
const MAILBOX = '/api/v1/mailbox'

describe.skipIf(missing)(`delivered mail${missing ? `: ${missing}` : ''}`, () => {
  let server: SieveServer
  let app: App
  beforeAll(async () => {
    server = await startSieveServer()
    app = await startApp({ env: server.env })
  })
  afterAll(async () => {
    await app?.stop()
    await server?.stop()
  })

  let count = 0
  /** Creates a mailbox with its holder, and functions that act as the holder. */
  async function holder() {
    const tenant = await app.tenant(`holder${++count}`)
    const { email } = tenant
    const session = await app.session('mailbox', tenant.accountId)
    const save = async (path: string, body: object) => {
      const answer = await session.put(`${MAILBOX}/${path}`, body)
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.body.data
    }
    /** Returns the folders of the mailbox with the subjects in them. */
    const deliver = async (headers: Record<string, string>, body = 'hello', from?: string) => {
      const message = { From: 'sender@elsewhere.test', To: email, Subject: 'Hello', ...headers }
      const lines = Object.entries(message).map(([name, value]) => `${name}: ${value}`)
      const mail = await server.deliver(email, `${lines.join('\n')}\n\n${body}\n`, from)
      expect(server.problems(email)).toBe('')
      return mail.map(({ folder, flags, text }) =>
        `${folder} ${/^Subject: (.*)$/m.exec(text)?.[1]} ${flags}`.trim(),
      )
    }
    return { tenant, email, session, save, deliver }
  }
  const rule = (condition: object, ...actions: object[]) => ({
    conditions: [condition],
    actions,
  })

  it('stays in the inbox without settings and with all settings disabled', async () => {
    const { save, deliver, email } = await holder()
    expect(await deliver({ Subject: 'one' })).toEqual(['INBOX one'])
    await save('forwarding', { enabled: false, addresses: ['friend@elsewhere.test'] })
    await save('vacation', { enabled: false, message: 'Away' })
    await save('rules', {
      rules: [{ ...rule({ field: 'subject', value: 'two' }, { type: 'discard' }), enabled: false }],
    })
    expect(await deliver({ Subject: 'two' })).toEqual(['INBOX one', 'INBOX two'])
    expect(server.sink.messages.filter(({ from }) => from === email)).toEqual([])
  })

  it('is filed, flagged and marked as read by rules, alone and combined', async () => {
    const { save, deliver } = await holder()
    await save('rules', {
      rules: [
        rule(
          { field: 'subject', value: 'report' },
          { type: 'move', value: 'Work' },
          { type: 'flag' },
        ),
        rule({ field: 'from', operator: 'is', value: 'boss@work.test' }, { type: 'flag' }),
        rule({ field: 'body', operator: 'contains', value: 'ünsubscribe' }, { type: 'mark_read' }),
        rule({ field: 'subject', operator: 'matches', value: '[*] spam?' }, { type: 'discard' }),
        rule(
          { field: 'from', operator: 'matches', value: '*@bosses.test' },
          { type: 'move', value: 'Bosses' },
        ),
      ],
    })
    await deliver({ Subject: 'weekly REPORT' })
    await deliver({ Subject: 'from the boss', From: 'The Boss <BOSS@work.test>' })
    await deliver(
      { Subject: 'news', 'Content-Type': 'text/plain; charset=utf-8' },
      'please ünsubscribe',
    )
    await deliver({ Subject: '[list] spam!' })
    await deliver({ Subject: 'both report', From: 'Big <big@bosses.test>' })
    expect((await deliver({ Subject: 'plain' })).sort()).toEqual([
      'Bosses both report F',
      'INBOX from the boss F',
      'INBOX news S',
      'INBOX plain',
      'Work both report F',
      'Work weekly REPORT F',
    ])
  })

  it('B4.7: is filed with its flags into a folder that a rule creates, as a test of rules says', async () => {
    const { session, email } = await holder()
    const names = ['New', 'New/Deep/er', 'Gr\u00fcn', '  spaced  ', 'a & "b" \\ *', 'INBOX/below']
    const refused = ['a.b', '.', '..', '/', '/x', 'x/', 'a//b', '~x', 'a\u0007', 'x'.repeat(300)]
    const body = (value: string) => ({
      rules: [
        rule(
          { field: 'subject', value: 'Hello' },
          { type: 'move', value },
          { type: 'flag' },
          { type: 'mark_read' },
        ),
      ],
    })
    for (const name of refused) {
      const answer = await session.put(`${MAILBOX}/rules`, body(name))
      expect(`${name}: ${answer.status}`).toBe(`${name}: 422`)
      const tested = await session.post(`${MAILBOX}/rules/test`, { subject: 'x', ...body(name) })
      expect(tested.status).toBe(422)
    }
    const message = `From: a@b.test\nTo: ${email}\nSubject: Hello\n\nhello\n`
    for (const [index, name] of names.entries()) {
      expect((await session.put(`${MAILBOX}/rules`, body(name))).status).toBe(200)
      const said = await session.post(`${MAILBOX}/rules/test`, {
        from: 'a@b.test',
        subject: 'Hello',
      })
      expect(said.body.data.stored).toEqual([
        { folder: name.trim(), flags: ['\\Flagged', '\\Seen'] },
      ])
      const stored = await server.deliver(email, message)
      expect(stored, name).toHaveLength(index + 1)
      expect(stored.filter(({ folder, flags }) => folder === 'INBOX' || flags !== 'FS')).toEqual([])
    }
    expect(server.problems(email)).toBe('')
  })

  it('is forwarded with and without a copy, copied by a rule, and sent to five addresses at once', async () => {
    const { save, deliver } = await holder()
    const arrived = (name: string) =>
      server.sink
        .to(`${name}-${count}@elsewhere.test`)
        .map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1])
    const address = (name: string) => `${name}-${count}@elsewhere.test`
    await save('forwarding', { enabled: true, addresses: [address('friend')] })
    expect(await deliver({ Subject: 'with' })).toEqual(['INBOX with'])
    await save('forwarding', { enabled: true, addresses: [address('friend')], keep_copy: false })
    expect(await deliver({ Subject: 'without' })).toEqual(['INBOX with'])
    expect(arrived('friend')).toEqual(['with', 'without'])
    const five = ['a', 'b', 'c', 'd', 'e']
    await save('forwarding', { enabled: true, addresses: five.map(address) })
    await save('rules', {
      rules: [
        rule({ field: 'subject', value: 'five' }, { type: 'forward', value: address('rule') }),
      ],
    })
    await deliver({ Subject: 'five' })
    for (const name of [...five, 'rule']) expect(arrived(name)).toEqual(['five'])
  })

  it('gets one multi-line vacation reply per sender and day, except from lists and robots', async () => {
    const { save, deliver } = await holder()
    const sender = `caller-${count}@elsewhere.test`
    const message = 'I am away.\n\n"Call" me \\ or wait.\n.\nJane'
    await save('vacation', { enabled: true, subject: 'Gone "fishing"\r\nBcc: x@y.test', message })
    const from = { From: sender }
    await deliver({ ...from, Subject: 'first' }, 'x', sender)
    const [reply] = await waitFor(() => server.sink.to(sender).length > 0 && server.sink.to(sender))
    expect(reply?.text).toContain(message.replaceAll('\n', '\r\n'))
    expect(reply?.text).toMatch(/^Subject: Gone "fishing" Bcc: x@y.test\r$/m)
    expect(reply?.text).not.toMatch(/^Bcc:/m)
    expect(reply?.text).toMatch(/^Auto-Submitted: auto-replied/m)
    await deliver({ ...from, Subject: 'second' }, 'x', sender)
    const robots: Record<string, string>[] = [
      { 'List-Id': '<news.elsewhere.test>' },
      { Precedence: 'bulk' },
      { 'Auto-Submitted': 'auto-generated' },
      { To: 'everybody@elsewhere.test' },
    ]
    for (const [index, headers] of robots.entries()) {
      const other = `robot-${index}-${count}@elsewhere.test`
      await deliver({ From: other, ...headers }, 'x', other)
      expect(server.sink.to(other), JSON.stringify(headers)).toEqual([])
    }
    expect(server.sink.to(sender)).toHaveLength(1)
    await deliver({ From: `late-${count}@elsewhere.test` }, 'x', `late-${count}@elsewhere.test`)
    // RFC 5230 §5.1: a reply has an empty envelope sender, so that it gets no reply itself.
    expect(server.sink.to(`late-${count}@elsewhere.test`)).toMatchObject([{ from: '' }])
  })

  it('is named in the subject of a vacation reply that has no subject', async () => {
    const { save, deliver } = await holder()
    const sender = `titled-${count}@elsewhere.test`
    await save('vacation', { enabled: true, message: 'Away' })
    await deliver({ From: sender, Subject: 'The question' }, 'x', sender)
    expect(server.sink.to(sender)[0]?.text).toMatch(/^Subject: Auto: The question\r$/m)
  })

  it('goes to Junk from a blocked sender, and nothing else happens to it', async () => {
    const { save, deliver, session } = await holder()
    const blocked = `noise-${count}@elsewhere.test`
    await save('rules', {
      rules: [
        rule({ field: 'subject', value: '' }, { type: 'discard' }),
        rule({ field: 'subject', value: 'x' }, { type: 'discard' }),
      ],
    })
    await save('forwarding', { enabled: true, addresses: [`all-${count}@elsewhere.test`] })
    await save('vacation', { enabled: true, message: 'Away' })
    await session.post(`${MAILBOX}/blocked-senders`, { address: blocked })
    expect(
      await deliver({ From: `Noise <${blocked.toUpperCase()}>`, Subject: 'x' }, 'x', blocked),
    ).toEqual(['Junk x'])
    // The envelope sender is not checked.
    expect(await deliver({ From: 'other@elsewhere.test', Subject: 'y' }, 'y', blocked)).toEqual([
      'INBOX y',
      'Junk x',
    ])
    expect(server.sink.to(`all-${count}@elsewhere.test`)).toHaveLength(1)
    await session.delete(`${MAILBOX}/blocked-senders/${encodeURIComponent(blocked)}`)
    expect(await deliver({ From: blocked, Subject: 'z' })).toContain('INBOX z')
  })

  it('is not affected by settings that try to break out of a Sieve string', async () => {
    const { save, deliver } = await holder()
    const hostile = [
      '"; discard; #',
      '\\"; discard; stop; "',
      '"];\r\nredirect "thief@elsewhere.test";#',
      'x\\',
    ]
    await save('rules', {
      rules: hostile.map((value) => ({
        name: value,
        match: 'any',
        conditions: ['contains', 'is', 'matches'].map((operator) => ({
          field: 'subject',
          operator,
          value,
        })),
        // Line breaks and dots cannot be in the name of a folder.
        actions: [{ type: 'move', value: value.replace(/[\r\n.]/g, '') }, { type: 'flag' }],
      })),
    })
    await save('vacation', { enabled: true, subject: hostile[0], message: hostile.join('\n') })
    expect(await deliver({ Subject: 'harmless' })).toEqual(['INBOX harmless'])
    expect(server.sink.to('thief@elsewhere.test')).toEqual([])
  })

  it('is always filtered by all four components', async () => {
    const { email, save } = await holder()
    await save('vacation', { enabled: true, message: 'Away' })
    expect(server.scripts(email)).toEqual([
      'svc-blocked-senders',
      'svc-forwarding',
      'svc-main',
      'svc-rules',
      'svc-vacation',
    ])
    expect(server.script(email, 'svc-main')).toBe(
      [
        'require ["include"];',
        'include :personal :optional "svc-blocked-senders";',
        'include :personal :optional "svc-rules";',
        'include :personal :optional "svc-forwarding";',
        'include :personal :optional "svc-vacation";',
        '',
      ].join('\r\n'),
    )
  })

  it('passes through the script of the tenant and the script of the holder, and neither replaces the other', async () => {
    const { tenant, email, save, deliver, session } = await holder()
    const at = (path = '') => `/api/v1/filters/${path}?email=${encodeURIComponent(email)}`
    await save('rules', {
      rules: [rule({ field: 'subject', value: 'rule' }, { type: 'move', value: 'Work' })],
    })
    const content =
      'require ["fileinto"];\nif header :contains "subject" "tenant" { fileinto "Bosses"; }\n'
    const saved = await tenant.post(at(), { name: 'policy', content, active: true })
    expect(saved).toMatchObject({
      status: 200,
      body: { msg: "Script 'policy' saved", data: { active: true } },
    })
    await deliver({ Subject: 'rule' })
    expect((await deliver({ Subject: 'tenant' })).sort()).toEqual(['Bosses tenant', 'Work rule'])
    // The holder saves again, and the script of the tenant stays.
    await save('forwarding', { enabled: true, addresses: [`next-${count}@elsewhere.test`] })
    expect(await deliver({ Subject: 'tenant again' })).toContain('Bosses tenant again')
    expect(server.sink.to(`next-${count}@elsewhere.test`)).toHaveLength(1)
    expect((await tenant.delete(at('policy'))).status).toBe(200)
    expect(await deliver({ Subject: 'tenant gone' })).toContain('INBOX tenant gone')
    expect(server.scripts(email)).not.toContain('policy')
    expect((await session.get(`${MAILBOX}/rules`)).body.data.rules).toHaveLength(1)
  })

  it('gets the reply of the tenant within its dates, for outside senders only, and never two replies', async () => {
    const { tenant, email, deliver, save } = await holder()
    const path = `/api/v1/filters/vacation?email=${encodeURIComponent(email)}`
    const asks = async (name: string, domain = 'elsewhere.test') => {
      const sender = `${name}-${count}@${domain}`
      await deliver({ From: sender }, 'x', sender)
      return server.sink.to(sender).length
    }
    const vacation = { enabled: true, message: 'Closed "today"' }
    expect((await tenant.post(path, { ...vacation, end_date: '2020-01-01' })).status).toBe(200)
    expect(await asks('past')).toBe(0)
    await tenant.post(path, { ...vacation, start_date: '2020-01-01', external_only: true })
    expect(await asks('outside')).toBe(1)
    expect(await asks('colleague', tenant.domain)).toBe(0)
    // The reply of the holder replaces it.
    await save('vacation', { enabled: true, message: 'My own words' })
    const sender = `own-${count}@elsewhere.test`
    await deliver({ From: sender }, 'x', sender)
    expect(server.sink.to(sender).map(({ text }) => text.includes('My own words'))).toEqual([true])
    // Both change one responder, so the last write wins.
    expect((await tenant.post(path, vacation)).status).toBe(200)
    await save('vacation', { enabled: false })
    expect((await tenant.post(path, { enabled: false })).status).toBe(200)
    expect(await asks('after')).toBe(0)
  })
})

describe.skipIf(missing)(`filters on Dovecot${missing ? `: ${missing}` : ''}`, () => {
  let server: SieveServer
  let app: App
  beforeAll(async () => {
    server = await startSieveServer()
    app = await startApp({ env: { ...server.env, SIEVE_PROBE_ACCOUNT: 'probe@acme.test' } })
  })
  afterAll(async () => {
    await app?.stop()
    await server?.stop()
  })

  it('return the error of the compiler and keep the stored script', async () => {
    const tenant = await app.tenant('compiler')
    const path = `/api/v1/filters/?email=${encodeURIComponent(tenant.email)}`
    await tenant.post(path, { name: 'mine', content: 'keep;' })
    const refused = await tenant.post(path, {
      name: 'mine',
      content: 'keep; frobnicate;',
      active: true,
    })
    expect(refused).toMatchObject({
      status: 400,
      body: { msg: expect.stringMatching(/line 1: error: unknown command/) },
    })
    expect(server.script(tenant.email, 'mine')).toBe('keep;')
    const events = await app.core.db.selectFrom('events').select('event').execute()
    expect(events.map(({ event }) => event)).toEqual(['filter.created'])
    const huge = await tenant.post(path, {
      name: 'huge',
      content: `#${'x'.repeat(1024 * 1024 - 90)}`,
    })
    expect(huge.status).toBe(200)
    const jane = await app.session('mailbox', tenant.accountId)
    const value = '\\'.repeat(2000)
    const conditions = Array.from({ length: 50 }, () => ({ field: 'subject', value }))
    const rules = Array.from({ length: 5 }, () => ({ conditions, actions: [{ type: 'flag' }] }))
    const over = await jane.put(`${MAILBOX}/rules`, { rules })
    expect(over).toMatchObject({ status: 400, body: { msg: expect.stringMatching(/too large/i) } })
  })

  it('are unavailable while the server is down, with an error, and return with it', async () => {
    const tenant = await app.tenant('away')
    const jane = await app.session('mailbox', tenant.accountId)
    const capability = async () =>
      (await jane.get(`${MAILBOX}/capabilities`)).body.data.capabilities.rules
    const save = () => jane.put(`${MAILBOX}/forwarding`, { enabled: true, addresses: ['a@b.test'] })
    expect((await save()).status).toBe(200)
    expect(await capability()).toBe(true)
    await server.away()
    expect(await save()).toMatchObject({ status: 503, body: { error_code: 'sieve_unavailable' } })
    expect(await capability()).toBe(false)
    await server.back()
    expect(await capability()).toBe(false)
    expect((await save()).status).toBe(200)
    expect(await capability()).toBe(true)
  })

  it('survive concurrent edits of one mailbox in two processes', async () => {
    const other = await startApp({ env: server.env, database: app.database })
    try {
      const tenant = await app.tenant('busy')
      const here = await app.session('mailbox', tenant.accountId)
      const there = await other.session('mailbox', tenant.accountId)
      const addresses = Array.from({ length: 16 }, (_, n) => `noise${n}@elsewhere.test`)
      const answers = await Promise.all(
        addresses.map((address, n) =>
          (n % 2 ? here : there).post(`${MAILBOX}/blocked-senders`, { address }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(addresses.map(() => 200))
      const { body } = await here.get(`${MAILBOX}/blocked-senders`)
      expect(body.data.addresses.sort()).toEqual([...addresses].sort())
    } finally {
      await other.stop()
    }
  })
})
