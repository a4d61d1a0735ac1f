import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { machinesMissing } from '../support/machines.ts'
import { MOVES } from '../support/mail-host-actions.ts'
import { type MailMachines, startMailMachines } from '../support/mail-machines.ts'
import { openManageSieve } from '../support/managesieve-client.ts'
import { cleanUp } from '../support/process.ts'
import { openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'
import { beforeTls } from '../support/wire.ts'

const missing = edgeMissing ?? machinesMissing
const title = missing ? ` (skipped: ${missing})` : ''
const ADA = 'ada@acme.test'
const BOB = 'bob@acme.test'
const VACATION = '/api/v1/mailbox/vacation'
const SMTP = 25
/** The first message of a client of PostgreSQL, which asks for TLS. */
const SSL_REQUEST = '\0\0\0\b\x04\xd2\x16/'

describe.skipIf(missing)(`mail hosts on machines of their own${title}`, () => {
  let mail: MailMachines
  let otherAuthority: string
  beforeAll(async () => {
    mail = await startMailMachines()
    for (const email of [ADA, BOB]) await mail.addMailbox(email)
    otherAuthority = await mail.makeAuthority('another')
  })
  afterAll(async () => {
    await mail?.stop()
    await cleanUp()
  })

  /** From a program on the host, which needs no content filter. */
  const send = (from: string, to: string, subject: string) => {
    const headers = `From: ${from}\\nTo: ${to}\\nSubject: ${subject}\\n`
    return mail.run('front', `printf '${headers}\\nin confidence\\n' | sendmail -f ${from} ${to}`)
  }
  const front = () => mail.addressOf('front')
  const login = async (email: string) => {
    const client = await openImap({ host: front(), port: 993 })
    return { client, status: (await client.login(email, PASSWORD)).status }
  }
  const has = async (email: string, subject: string) => {
    const { client, status } = await login(email)
    const found = status.startsWith('OK') ? await client.messages() : []
    client.end()
    return found.some((text) => text.includes(`Subject: ${subject}\r\n`))
  }
  const arrived = (email: string, subject: string) =>
    waitFor(async () => {
      if (await has(email, subject)) return true
      await mail.run('front', 'postqueue -f')
      return false
    })
  const popStatus = async (email: string) => {
    const lines = await openLines({ host: front(), port: 995, tls: true })
    await lines.line()
    lines.send(`USER ${email}\r\nPASS ${PASSWORD}\r\n`)
    await lines.line()
    const status = await lines.line()
    lines.end()
    return status
  }
  const sieveStatus = async (email: string) => {
    const client = await openManageSieve(4190, front())
    const status = await client.login(email, PASSWORD)
    client.end()
    return status
  }
  const logged = (host: 'front' | 'one' | 'two', pattern: RegExp) =>
    waitFor(async () => pattern.test(await mail.log(host)))

  it('deliver mail, replies and filters, take logins and move mailboxes', async () => {
    await send('writer@elsewhere.test', ADA, 'first')
    await arrived(ADA, 'first')
    expect(await popStatus(ADA)).toMatch(/^\+OK/)
    expect(await sieveStatus(ADA)).toMatch(/^OK/)
    const holder = await mail.holder(ADA)
    const vacation = { enabled: true, subject: 'fishing', message: 'Gone until Monday' }
    expect((await holder.put(VACATION, vacation)).status).toBe(200)
    await send(BOB, ADA, 'second')
    await arrived(BOB, 'fishing')
    const asked = await mail.owner().post(MOVES, { email: ADA, host_id: mail.ids.two })
    expect(asked.status, asked.text).toBe(202)
    const [move] = asked.body.data.moves
    await waitFor(async () => {
      const { state, error_message } = (await mail.owner().get(`${MOVES}/${move.id}`)).body.data
      expect(error_message).toBeNull()
      return state === 'done'
    })
    await send('writer@elsewhere.test', ADA, 'third')
    await arrived(ADA, 'third')
    expect(await has(ADA, 'first')).toBe(true)
  })

  const wrong = {
    'another authority': (name: string) => mail.issue(otherAuthority, mail.hostnameOf(name)),
    'another name': () => mail.issue(mail.authority, 'another.internal.example'),
    'the past': (name: string) => mail.issueExpired(mail.authority, mail.hostnameOf(name)),
  }
  const kinds = Object.keys(wrong) as (keyof typeof wrong)[]
  const withWrong = async (name: string, kind: keyof typeof wrong, work: () => Promise<void>) => {
    await mail.present(name, await wrong[kind](name))
    for (const host of ['front', 'one', 'two']) {
      await mail.run(host, 'truncate -s 0 /var/log/mailplane/*.log')
    }
    try {
      await work()
    } finally {
      await mail.present(name, await mail.issue(mail.authority, mail.hostnameOf(name)))
    }
  }

  it.each(kinds)('refuse a backend with a certificate of %s', async (kind) => {
    await withWrong('one', kind, async () => {
      await waitFor(async () => (await login(BOB)).status.startsWith('NO [UNAVAILABLE]'))
      expect(await popStatus(BOB)).toMatch(/^-ERR/)
      expect(await sieveStatus(BOB)).toMatch(/^NO/)
      await send('writer@elsewhere.test', BOB, 'waits')
      await logged(
        'front',
        /to=<bob@acme.test>.*status=deferred \(Server certificate not (trusted|verified)\)/,
      )
      const copied = mail.run(
        'two',
        `doveadm sync -1 -u ${ADA} tcps:${mail.hostnameOf('one')}:24182`,
      )
      await expect(copied).rejects.toThrow(/certificate/)
      const asked = await mail.owner().post(MOVES, { email: BOB, host_id: mail.ids.two })
      const [{ id }] = asked.body.data.moves
      const failed = async () => (await mail.owner().get(`${MOVES}/${id}`)).body.data.error_message
      await waitFor(async () => (await failed()) !== null)
      expect(await failed()).toBe('the request to Dovecot failed')
      expect((await mail.owner().post(`${MOVES}/${id}/cancel`)).status).toBe(200)
    })
    await arrived(BOB, 'waits')
  })

  it.each(kinds)('refuse a front with a certificate of %s', async (kind) => {
    const holder = await mail.holder(ADA)
    await withWrong('front', kind, async () => {
      await waitFor(async () => (await holder.get(VACATION)).status === 503)
      // Postfix may still present the old certificate or be closed; each sender gets one reply.
      let count = 0
      await waitFor(async () => {
        await send(`writer-${++count}@${kind.replace(' ', '-')}.test`, ADA, 'no-reply-to-this')
        return /SSL handshake to front\S+ failed: .*certificate/.test(await mail.log('two'))
      })
      await logged('two', /failed to send vacation response/)
    })
  })

  it.each(kinds)('refuse a database with a certificate of %s', async (kind) => {
    await withWrong('db', kind, async () => {
      await expect(mail.mailplane('db migrate --plan')).rejects.toThrow(/certificate|altname/i)
      await mail.run('front', 'postfix reload >/dev/null 2>&1')
      await send('writer@elsewhere.test', BOB, 'waits-for-the-database')
      await logged('front', /connect to pgsql server .*certificate/)
      await mail.run('one', 'doveadm reload >/dev/null 2>&1')
      await expect(mail.run('one', `doveadm user ${BOB}`)).rejects.toThrow()
      await logged('one', /certificate/)
    })
    await waitFor(async () => (await login(BOB)).status.startsWith('OK'))
  })

  it('send nothing to each other outside of TLS', async () => {
    // A connection without TLS, which the record must show.
    const plain = await openSmtp({ host: front(), port: SMTP })
    plain.quit()
    await waitFor(() => mail.recorded().some(({ port }) => port === SMTP))
    const streams = mail.recorded()
    const ports = new Set(streams.map(({ port }) => port))
    const expected = [24, SMTP, 993, 995, 4190, 5432, 10588, 24180, 24182]
    expect([...ports].sort((a, b) => a - b)).toEqual(expected)
    const inClear = streams
      .filter(({ port }) => port !== SMTP)
      .map((stream) => beforeTls(stream).replace(SSL_REQUEST, ''))
    for (const text of inClear) expect(text).toMatch(/^[ -~\r\n]{0,1000}$/)
    expect(inClear.join('\n')).not.toMatch(/AUTH(ENTICATE)? (PLAIN|"PLAIN") |confidence|password/i)
  })
})
