import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MASTER_USER } from '../../src/edge/settings-of.ts'
import { clientOf, PASSWORD } from '../support/app.ts'
import { edgeMissing, skipped } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { HOSTS, MOVES } from '../support/mail-host-actions.ts'
import { type MailHosts, startMailHosts } from '../support/mail-hosts.ts'
import { openManageSieve } from '../support/managesieve-client.ts'
import { cleanUp, kill } from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const NUMBER = 20
const SHARED = '/api/v1/shared-mailboxes'
const COMPLIANCE = '/api/v1/compliance'
const REASON = 'The court has asked for it'

// Three mail hosts under load take a minute alone and more than three beside other lanes, which they
// slow down, so only the lane by name runs them.
const isAsked = process.env.MAILPLANE_LANES?.includes('mail') ?? true
const title = isAsked ? skipped : ' (skipped: npm run test:mail runs it)'

describe.skipIf(edgeMissing || !isAsked)(`several mail hosts${title}`, () => {
  let mail: MailHosts
  const mailboxes = Array.from({ length: NUMBER }, (_, index) => `box${index}@acme.test`)
  const ids = new Map<string, string>()
  beforeAll(async () => {
    mail = await startMailHosts(inject('databaseUrl'))
    for (const email of mailboxes) ids.set(email, await mail.addMailbox(email))
  })
  afterAll(async () => {
    await mail?.stop()
    await cleanUp()
  })

  it('puts an organization on one backend and takes mail and logins through the proxy', async () => {
    expect((await mail.hostNamed('one')).mailboxes).toBe(NUMBER + 1)
    expect((await mail.hostNamed('two')).mailboxes).toBe(0)
    expect((await mail.receive('box0@acme.test', 'first')).code).toBe(250)
    await mail.arrived('box0@acme.test', 'first')
    // The backends verify no password: only proxies can log in.
    const direct = await mail.loginStatus(mail.portOf('one', 'imaps'), 'box0@acme.test', PASSWORD)
    expect(direct).toMatch(/^NO \[AUTHENTICATIONFAILED\]/)
    expect(mail.log('front')).toContain('proxy(box0@acme.test')
  })

  it('are managed by operators with the role for it', async () => {
    const tenant = mail.tenant()
    const wanted = { email: 'box0@acme.test', host_id: mail.ids.two }
    expect((await tenant.get(HOSTS)).status).toBe(403)
    expect((await tenant.post(MOVES, wanted)).status).toBe(403)
    const anonymous = clientOf(mail.server, {})
    expect((await anonymous.post(`${HOSTS}/${mail.ids.one}/drain`)).status).toBe(401)
    const owner = mail.owner()
    expect((await owner.delete(`${HOSTS}/${mail.ids.one}`)).body.error_code).toBe(
      'MAIL_HOST_IN_USE',
    )
    const back = await owner.post(MOVES, { email: 'box0@acme.test', host_id: mail.ids.one })
    expect(back.status).toBe(409)
    const nobody = await owner.post(MOVES, { email: 'nobody@acme.test', host_id: mail.ids.two })
    expect(nobody.status).toBe(404)
    const front = await owner.post(MOVES, { email: 'box0@acme.test', host_id: mail.ids.front })
    expect(front.status).toBe(409)
  })

  it('let the control plane into mailboxes of any status, with its own rights', async () => {
    const [suspended, shared] = ['box19@acme.test', 'team@acme.test']
    const tenant = mail.tenant()
    const status = { status: 'suspended' }
    const path = `/api/v1/mailboxes/email-accounts/${ids.get(suspended)}`
    expect((await tenant.put(path, status)).status).toBe(200)
    const made = await tenant.post('/api/v1/shared-mailboxes', { email: shared, name: 'Team' })
    expect(made.status, made.text).toBe(201)
    for (const email of [suspended, shared, 'box1@acme.test']) {
      const client = await openImap({ port: mail.imaps() })
      const login = `${email}*${MASTER_USER}`
      expect((await client.login(login, mail.masterPassword())).status, email).toMatch(/^OK/)
      // A holder has no rights on folders of kept mail.
      expect((await client.command('CREATE ".KEPT/probe"')).status, email).toMatch(/^OK/)
      expect((await client.command('DELETE ".KEPT/probe"')).status, email).toMatch(/^OK/)
      client.end()
      expect(await mail.loginStatus(mail.imaps(), login, 'wrong'), email).toMatch(/^NO/)
    }
    const sieve = await openManageSieve(mail.portOf('front', 'sieve'))
    expect(await sieve.login(MASTER_USER, mail.masterPassword(), suspended)).toMatch(/^OK/)
    expect(await sieve.put('kept', 'keep;\r\n')).toMatch(/^OK/)
    sieve.end()
    expect((await tenant.put(path, { status: 'active' })).status).toBe(200)
  })

  it('lose and double no mail in 20 moves under delivery, and in a kill -9 among them', async () => {
    const accepted = new Map<string, string>()
    let number = 0
    let isStopped = false
    const repeat = async (work: (email: string, subject: string) => Promise<{ code: number }>) => {
      while (!isStopped) {
        const email = mailboxes[number % NUMBER] as string
        const subject = `mail-${++number}`
        const reply = await work(email, subject).catch(() => undefined)
        expect(reply?.code ?? 400, subject).toBeLessThan(500)
        if (reply?.code === 250) accepted.set(subject, email)
        await sleep(10)
      }
    }
    const loads = [
      repeat(mail.receive),
      repeat(mail.deliverTo('one')),
      repeat(mail.deliverTo('two')),
    ]
    await waitFor(() => accepted.size >= NUMBER)
    const first = []
    for (const email of mailboxes) first.push(...(await mail.move(email, 'two')))
    expect(first).toHaveLength(NUMBER)
    await mail.ended(first)
    expect((await mail.hostNamed('two')).mailboxes).toBe(NUMBER)
    const some = []
    for (const email of mailboxes.slice(0, 5)) some.push(...(await mail.move(email, 'one')))
    await waitFor(async () => {
      const { items } = (await mail.owner().get(`${MOVES}?state=waiting`)).body.data
      return items.length < some.length
    })
    await mail.kill()
    await mail.restart()
    await mail.ended(some)
    isStopped = true
    await Promise.all(loads)
    expect((await mail.hostNamed('one')).mailboxes).toBe(7)

    const found = new Map<string, number>()
    await waitFor(async () => {
      found.clear()
      for (const email of mailboxes) {
        for (const subject of await mail.subjectsOf(email)) {
          found.set(subject, (found.get(subject) ?? 0) + 1)
        }
      }
      if ([...accepted.keys()].every((subject) => found.has(subject))) return true
      await mail.flushQueue()
      await sleep(500)
      return false
    }).catch(() => {})
    expect([...accepted.keys()].filter((subject) => !found.has(subject))).toEqual([])
    const doubled = [...found].filter(([subject, count]) => count > 1 && accepted.has(subject))
    expect(doubled).toEqual([])
    expect(accepted.size).toBeGreaterThan(NUMBER * 2)
    process.stderr.write(`mail-hosts: ${NUMBER + 5} moves, ${accepted.size} messages accepted\n`)
  })

  it('remove the old copies, and no other', async () => {
    await waitFor(async () => (await mail.hostNamed('one')).old_copies === 0)
    await waitFor(async () => (await mail.hostNamed('two')).old_copies === 0)
    for (const [email, id] of ids) {
      const isBack = mailboxes.indexOf(email) < 5
      const [there, gone] = isBack ? ['one', 'two'] : ['two', 'one']
      expect(mail.filesOn(gone, id), email).toEqual([])
      expect(mail.filesOn(there, id), email).not.toEqual([])
    }
  })

  it('move a mailbox after a slow delivery, which holds up no other move', async () => {
    const [slow, other] = ['box9@acme.test', 'box10@acme.test']
    const delivery = await openSmtp({ port: mail.portOf('two', 'lmtp'), lmtp: true })
    await delivery.say('MAIL FROM:<slow@elsewhere.test>')
    expect((await delivery.say(`RCPT TO:<${slow}>`)).code).toBe(250)
    expect((await delivery.say('DATA')).code).toBe(354)
    const waiting = await mail.move(slow, 'one')
    await waitFor(async () => (await mail.moveNamed(waiting[0]?.id)).state === 'locked')
    await mail.ended(await mail.move(other, 'one'))
    expect((await mail.moveNamed(waiting[0]?.id)).state).toBe('locked')
    // New mail and new logins are deferred meanwhile.
    expect((await mail.deliverTo('two')(slow, 'deferred')).code).toBe(451)
    expect(await mail.loginStatus(mail.imaps(), slow, PASSWORD)).toMatch(/^NO \[UNAVAILABLE\]/)
    const text = message('slow@elsewhere.test', slow, 'slow')
    expect((await delivery.say(`${text}\r\n.`)).code).toBe(250)
    delivery.quit()
    await mail.ended(waiting)
    const found = await mail.subjectsOf(slow)
    expect(found.filter((subject) => subject === 'slow')).toHaveLength(1)
    expect(found).not.toContain('deferred')
  })

  it('end the sessions of a mailbox and let a delivery go on', async () => {
    const email = 'box11@acme.test'
    const path = `/api/v1/mailboxes/email-accounts/${ids.get(email)}`
    const delivery = await openSmtp({ port: mail.portOf('two', 'lmtp'), lmtp: true })
    await delivery.say('MAIL FROM:<slow@elsewhere.test>')
    expect((await delivery.say(`RCPT TO:<${email}>`)).code).toBe(250)
    expect((await delivery.say('DATA')).code).toBe(354)
    const endings = [
      () => mail.tenant().post(`${path}/reset-password`, { new_password: PASSWORD }),
      () => mail.tenant().put(path, { status: 'suspended' }),
    ]
    for (const end of endings) {
      const session = await openImap({ port: mail.imaps() })
      expect((await session.login(email, PASSWORD)).status).toMatch(/^OK/)
      expect((await end()).status).toBe(200)
      await waitFor(() =>
        session
          .command('NOOP')
          .then(({ ok }) => !ok)
          .catch(() => true),
      )
    }
    const text = message('slow@elsewhere.test', email, 'under-way')
    expect((await delivery.say(`${text}\r\n.`)).code).toBe(250)
    delivery.quit()
    expect((await mail.tenant().put(path, { status: 'active' })).status).toBe(200)
    const found = await mail.subjectsOf(email)
    expect(found.filter((subject) => subject === 'under-way')).toHaveLength(1)
  })

  it('refuse an old password at once, for every protocol', async () => {
    const email = 'box12@acme.test'
    const next = 'a-new-password-for-box-12'
    const smtp = async (password: string) => {
      const opened = await openSmtp({ port: mail.portOf('front', 'submission') })
      await opened.startTls()
      const { code } = await opened.auth(email, password)
      opened.quit()
      return code
    }
    const sieve = async (password: string) => {
      const opened = await openManageSieve(mail.portOf('front', 'sieve'))
      const reply = await opened.login(email, password)
      opened.end()
      return reply.slice(0, 2)
    }
    expect(await mail.loginStatus(mail.imaps(), email, PASSWORD)).toMatch(/^OK/)
    expect([await smtp(PASSWORD), await sieve(PASSWORD)]).toEqual([235, 'OK'])
    const changed = await mail
      .tenant()
      .post(`/api/v1/mailboxes/email-accounts/${ids.get(email)}/reset-password`, {
        new_password: next,
      })
    expect(changed.status, changed.text).toBe(200)
    expect(await mail.loginStatus(mail.imaps(), email, PASSWORD)).toMatch(
      /^NO \[AUTHENTICATIONFAILED\]/,
    )
    expect([await smtp(PASSWORD), await sieve(PASSWORD)]).toEqual([535, 'NO'])
    expect(await mail.loginStatus(mail.imaps(), email, next)).toMatch(/^OK/)
    expect([await smtp(next), await sieve(next)]).toEqual([235, 'OK'])
  })

  it('take shared mailboxes along with their members and their rights', async () => {
    const [desk, full, reader] = ['desk@acme.test', 'box3@acme.test', 'box16@acme.test']
    const made = await mail.tenant().post(SHARED, { email: desk, name: 'Desk' })
    expect(made.status, made.text).toBe(201)
    const join = (email: string, permission: string) =>
      mail
        .tenant()
        .post(`${SHARED}/${made.body.data.id}/members`, { email_account_id: email, permission })
    expect((await join(full, 'full_access')).status).toBe(200)
    expect((await join(reader, 'read_only')).status).toBe(200)
    // A member who is elsewhere is moved to the shared mailbox.
    await waitFor(async () => (await mail.hostNamed('one')).open_moves === 0)
    expect((await mail.receive(desk, 'before')).code).toBe(250)
    await mail.arrived(full, 'before', `Shared/${desk}`)

    expect(await mail.moveAway(reader)).toEqual([reader, full, desk])
    expect((await mail.receive(desk, 'after')).code).toBe(250)
    for (const email of [full, reader]) {
      await mail.arrived(email, 'after', `Shared/${desk}`)
      expect(await mail.subjectsOf(email, `Shared/${desk}`), email).toEqual(['before', 'after'])
    }
    expect(await mail.subjectsOf('box0@acme.test', `Shared/${desk}`)).toEqual([])
    const afterExpungeOf = async (email: string) => {
      await mail.asHolder(email, async (client) => {
        await client.command(`SELECT "Shared/${desk}"`)
        await client.command('STORE 1 +FLAGS (\\Deleted)')
        await client.command('EXPUNGE')
      })
      return mail.subjectsOf(reader, `Shared/${desk}`)
    }
    expect(await afterExpungeOf(reader)).toEqual(['before', 'after'])
    expect(await afterExpungeOf(full)).toEqual(['after'])
  })

  it('take rules and vacation replies of the holder along', async () => {
    const [away, writer] = ['box5@acme.test', 'box6@acme.test']
    const jar = new Map<string, string>()
    const holder = clientOf(mail.server, {}, jar)
    const login = { email_address: away, password: PASSWORD }
    expect((await holder.post('/api/v1/mailbox-auth/login', login)).status).toBe(200)
    const rules = [
      {
        conditions: [{ field: 'subject', value: 'report' }],
        actions: [{ type: 'move', value: 'Work' }],
      },
    ]
    expect((await holder.put('/api/v1/mailbox/rules', { rules })).status).toBe(200)
    const vacation = { enabled: true, subject: 'fishing', message: 'Gone until Monday' }
    expect((await holder.put('/api/v1/mailbox/vacation', vacation)).status).toBe(200)
    const write = async (subject: string) => {
      const client = await openSmtp({ port: mail.portOf('front', 'submission') })
      await client.startTls()
      await client.auth(writer, PASSWORD)
      const text = message(writer, away, subject)
      expect((await client.send({ from: writer, to: away, text })).code).toBe(250)
      client.quit()
      await mail.arrived(away, subject, 'Work')
    }
    const replies = async () =>
      (await mail.subjectsOf(writer)).filter((subject) => subject === 'fishing').length
    await write('report-1')
    await write('report-2')
    await waitFor(async () => (await replies()) === 1)
    await mail.moveAway(away)

    // The list of senders that have had a reply stays on the old host.
    await write('report-3')
    await write('report-4')
    await waitFor(async () => (await replies()) === 2)
    expect((await holder.get('/api/v1/mailbox/vacation')).body.data).toMatchObject(vacation)
  })

  it('take mail along that a legal hold keeps, out of reach of the holder', async () => {
    const email = 'box7@acme.test'
    const held = (await mail.subjectsOf(email)).length
    const placed = await mail.owner().post(`${COMPLIANCE}/legal-holds`, {
      organization_id: mail.organizationId,
      name: 'Case 12',
      custodians: [email],
      reason: REASON,
    })
    expect(placed.status, placed.text).toBe(201)
    await waitFor(async () => {
      const { items } = (await mail.owner().get(`${COMPLIANCE}/legal-holds`)).body.data
      return items[0].enforced_at
    })
    const kept = async () =>
      (await mail.owner().get(`${COMPLIANCE}/kept-mail/${email}`)).body.data.messages
    const expungeAll = () =>
      mail.asHolder(email, async (client) => {
        await client.command('SELECT INBOX')
        await client.command('STORE 1:* +FLAGS (\\Deleted)')
        expect((await client.command('EXPUNGE')).ok).toBe(true)
        expect((await client.command('SELECT .KEPT/INBOX')).ok).toBe(false)
      })
    await expungeAll()
    expect(await kept()).toBe(held)
    await mail.moveAway(email)
    expect(await kept()).toBe(held)
    // The new host keeps on keeping.
    expect((await mail.receive(email, 'evidence')).code).toBe(250)
    await mail.arrived(email, 'evidence')
    await expungeAll()
    expect(await mail.subjectsOf(email)).toEqual([])
    expect(await kept()).toBe(held + 1)
  })

  it('take the size of a mailbox along, and refuse mail for a full one', async () => {
    const email = 'tiny@acme.test'
    // The quota of the domain has room for one more mailbox then.
    const other = `/api/v1/mailboxes/email-accounts/${ids.get('box8@acme.test')}`
    expect((await mail.tenant().put(other, { storage_quota: 1_000_000_000 })).status).toBe(200)
    await mail.addMailbox(email, { storage_quota: 20_000 })
    const body = `${'x'.repeat(70)}\n`.repeat(240)
    const size = () =>
      mail.asHolder(email, async (client) =>
        (await client.command('GETQUOTAROOT INBOX')).lines.at(-1),
      )
    expect((await mail.receive(email, 'much', body)).code).toBe(250)
    await mail.arrived(email, 'much')
    const before = await size()
    expect(before).toMatch(/STORAGE 1[6-9] 20/)
    await mail.moveAway(email)
    expect(await size()).toBe(before)
    expect((await mail.receive(email, 'more')).text).toMatch(/^552 5\.2\.2 .*full/)
    // Its host decides about messages that come another way.
    const answers = []
    for (const host of ['one', 'two']) {
      answers.push((await mail.deliverTo(host)(email, 'more', body)).text)
    }
    expect(answers.sort().map((one) => one.slice(0, 3))).toEqual(['451', '552'])
    await mail.asHolder(email, async (client) => {
      await client.command('SELECT INBOX')
      await client.command('STORE 1:* +FLAGS (\\Deleted)')
      await client.command('EXPUNGE')
    })
    await waitFor(async () => (await mail.receive(email, 'fits')).code === 250)
    await mail.arrived(email, 'fits')
  })

  it('let only the mailboxes of a dead backend wait', async () => {
    const [dead, alive] = ['box15@acme.test', 'box0@acme.test']
    for (const pid of mail.pidsOf('two')) kill(pid)
    await waitFor(() => mail.pidsOf('two').length === 0)
    expect(await mail.loginStatus(mail.imaps(), dead, PASSWORD)).toMatch(/^NO \[UNAVAILABLE\]/)
    expect(await mail.loginStatus(mail.imaps(), dead, 'wrong')).toMatch(
      /^NO \[AUTHENTICATIONFAILED\]/,
    )
    expect((await mail.receive(dead, 'waits')).code).toBe(250)
    expect((await mail.receive(alive, 'goes-on')).code).toBe(250)
    await waitFor(async () => (await mail.subjectsOf(alive)).includes('goes-on'))
    const moves = await mail.move(dead, 'one')
    await waitFor(async () => (await mail.moveNamed(moves[0]?.id)).error_message !== null)
    await mail.up('two', 'backend')
    await mail.ended(moves)
    await mail.arrived(dead, 'waits')
    expect((await mail.subjectsOf(dead)).filter((subject) => subject === 'waits')).toHaveLength(1)
  })

  it('can be emptied and deleted', async () => {
    const drained = await mail.owner().post(`${HOSTS}/${mail.ids.two}/drain`)
    expect(drained.status, drained.text).toBe(200)
    expect(drained.body.data.moves).toBeGreaterThan(0)
    await waitFor(async () => {
      const { mailboxes, open_moves } = await mail.hostNamed('two')
      return mailboxes === 0 && open_moves === 0
    })
    expect((await mail.owner().delete(`${HOSTS}/${mail.ids.two}`)).status).toBe(200)
    expect((await mail.owner().delete(`${HOSTS}/${mail.ids.front}`)).status).toBe(409)
    expect((await mail.receive('box15@acme.test', 'after-all')).code).toBe(250)
    await mail.arrived('box15@acme.test', 'after-all')
  })
})
