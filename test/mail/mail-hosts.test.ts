import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MASTER_USER } from '../../src/edge/settings-of.ts'
import { clientOf, PASSWORD } from '../support/app.ts'
import { edgeMissing, skipped } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { HOSTS, type MailHosts, MOVES, startMailHosts } from '../support/mail-hosts.ts'
import { openManageSieve } from '../support/managesieve-client.ts'
import { cleanUp, kill } from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const FROM = 'somebody@elsewhere.test'
const NUMBER = 20

// Three more mail hosts beside other tests take minutes, so only the lane alone runs them.
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

  const imaps = () => mail.portOf('front', 'imaps')
  const hostNamed = async (name: string) =>
    (await mail.owner().get(`${HOSTS}/${mail.ids[name]}`)).body.data
  const deliver = async (port: number, to: string, text: string, lmtp = false) => {
    const client = await openSmtp({ port, lmtp })
    try {
      return await client.send({ from: FROM, to, text })
    } finally {
      client.quit()
    }
  }
  const receive = (to: string, subject: string, body?: string) =>
    deliver(mail.portOf('front', 'smtp'), to, message(FROM, to, subject, body))
  /** Straight to a backend, which answers 451 when it does not own the mailbox. */
  const deliverTo = (host: string) => (to: string, subject: string) =>
    deliver(mail.portOf(host, 'lmtp'), to, message(FROM, to, subject), true)
  const subjectsOf = async (email: string, folder = 'INBOX') =>
    (await mailIn(imaps(), email, PASSWORD, folder)).flatMap(
      (text) => /^Subject: (\S+)\r$/m.exec(text)?.[1] ?? [],
    )
  const flushQueue = () =>
    mail.owner().post('/api/v1/queue/mail-queue/flush', { reason: 'a test of mail hosts' })
  /** Mail that was deferred waits for minutes unless Postfix is asked again. */
  const arrived = (email: string, subject: string, folder = 'INBOX') =>
    waitFor(async () => {
      if ((await subjectsOf(email, folder)).includes(subject)) return true
      await flushQueue()
      await sleep(200)
      return false
    })
  const move = async (email: string, host: string) => {
    const answer = await mail.owner().post(MOVES, { email, host_id: mail.ids[host] })
    expect(answer.status, answer.text).toBe(202)
    return answer.body.data.moves as { id: string; email: string }[]
  }
  const ended = (moves: readonly { id: string }[]) =>
    waitFor(async () => {
      for (const { id } of moves) {
        const { state, error_message } = (await mail.owner().get(`${MOVES}/${id}`)).body.data
        expect(['failed', 'cancelled'], error_message).not.toContain(state)
        if (state !== 'done') return false
      }
      return true
    })
  const loginStatus = async (port: number, user: string, password: string) => {
    const client = await openImap({ port })
    try {
      return (await client.login(user, password)).status
    } finally {
      client.end()
    }
  }

  it('puts an organization on one backend and takes mail and logins through the proxy', async () => {
    expect((await hostNamed('one')).mailboxes).toBe(NUMBER + 1)
    expect((await hostNamed('two')).mailboxes).toBe(0)
    expect((await receive('box0@acme.test', 'first')).code).toBe(250)
    await arrived('box0@acme.test', 'first')
    // The backends verify no password: only proxies can log in.
    const direct = await loginStatus(mail.portOf('one', 'imaps'), 'box0@acme.test', PASSWORD)
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
      const client = await openImap({ port: imaps() })
      const login = `${email}*${MASTER_USER}`
      expect((await client.login(login, mail.masterPassword())).status, email).toMatch(/^OK/)
      // A holder has no rights on folders of kept mail.
      expect((await client.command('CREATE ".KEPT/probe"')).status, email).toMatch(/^OK/)
      expect((await client.command('DELETE ".KEPT/probe"')).status, email).toMatch(/^OK/)
      client.end()
      expect(await loginStatus(imaps(), login, 'wrong'), email).toMatch(/^NO/)
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
    const loads = [repeat(receive), repeat(deliverTo('one')), repeat(deliverTo('two'))]
    await waitFor(() => accepted.size >= NUMBER)
    const first = []
    for (const email of mailboxes) first.push(...(await move(email, 'two')))
    expect(first).toHaveLength(NUMBER)
    await ended(first)
    expect((await hostNamed('two')).mailboxes).toBe(NUMBER)
    const some = []
    for (const email of mailboxes.slice(0, 5)) some.push(...(await move(email, 'one')))
    await waitFor(async () => {
      const { items } = (await mail.owner().get(`${MOVES}?state=waiting`)).body.data
      return items.length < some.length
    })
    await mail.kill()
    await mail.restart()
    await ended(some)
    isStopped = true
    await Promise.all(loads)
    expect((await hostNamed('one')).mailboxes).toBe(7)

    const found = new Map<string, number>()
    await waitFor(async () => {
      found.clear()
      for (const email of mailboxes) {
        for (const subject of await subjectsOf(email)) {
          found.set(subject, (found.get(subject) ?? 0) + 1)
        }
      }
      if ([...accepted.keys()].every((subject) => found.has(subject))) return true
      await flushQueue()
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
    await waitFor(async () => (await hostNamed('one')).old_copies === 0)
    await waitFor(async () => (await hostNamed('two')).old_copies === 0)
    for (const [email, id] of ids) {
      const isBack = mailboxes.indexOf(email) < 5
      const [there, gone] = isBack ? ['one', 'two'] : ['two', 'one']
      expect(mail.filesOn(gone, id), email).toEqual([])
      expect(mail.filesOn(there, id), email).not.toEqual([])
    }
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
    expect(await loginStatus(imaps(), email, PASSWORD)).toMatch(/^OK/)
    expect([await smtp(PASSWORD), await sieve(PASSWORD)]).toEqual([235, 'OK'])
    const changed = await mail
      .tenant()
      .post(`/api/v1/mailboxes/email-accounts/${ids.get(email)}/reset-password`, {
        new_password: next,
      })
    expect(changed.status, changed.text).toBe(200)
    expect(await loginStatus(imaps(), email, PASSWORD)).toMatch(/^NO \[AUTHENTICATIONFAILED\]/)
    expect([await smtp(PASSWORD), await sieve(PASSWORD)]).toEqual([535, 'NO'])
    expect(await loginStatus(imaps(), email, next)).toMatch(/^OK/)
    expect([await smtp(next), await sieve(next)]).toEqual([235, 'OK'])
  })

  it('let only the mailboxes of a dead backend wait', async () => {
    const [dead, alive] = ['box15@acme.test', 'box0@acme.test']
    for (const pid of mail.pidsOf('two')) kill(pid)
    await waitFor(() => mail.pidsOf('two').length === 0)
    expect(await loginStatus(imaps(), dead, PASSWORD)).toMatch(/^NO \[UNAVAILABLE\]/)
    expect(await loginStatus(imaps(), dead, 'wrong')).toMatch(/^NO \[AUTHENTICATIONFAILED\]/)
    expect((await receive(dead, 'waits')).code).toBe(250)
    expect((await receive(alive, 'goes-on')).code).toBe(250)
    await waitFor(async () => (await subjectsOf(alive)).includes('goes-on'))
    await mail.up('two', 'backend')
    await arrived(dead, 'waits')
    expect((await subjectsOf(dead)).filter((subject) => subject === 'waits')).toHaveLength(1)
  })

  it('can be emptied and deleted', async () => {
    const drained = await mail.owner().post(`${HOSTS}/${mail.ids.two}/drain`)
    expect(drained.status, drained.text).toBe(200)
    expect(drained.body.data.moves).toBeGreaterThan(0)
    await waitFor(async () => {
      const { mailboxes, open_moves } = await hostNamed('two')
      return mailboxes === 0 && open_moves === 0
    })
    expect((await mail.owner().delete(`${HOSTS}/${mail.ids.two}`)).status).toBe(200)
    expect((await mail.owner().delete(`${HOSTS}/${mail.ids.front}`)).status).toBe(409)
    expect((await receive('box15@acme.test', 'after-all')).code).toBe(250)
    await arrived('box15@acme.test', 'after-all')
  })
})
