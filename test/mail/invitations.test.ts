import { generateKeyPairSync } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, ROOT_KEY } from '../support/app.ts'
import { type DavClient, davClient, hrefsIn } from '../support/dav.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { send } from '../support/http.ts'
import { calendarIn, invitationMail, meeting } from '../support/invitations.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { startReinjectSink } from '../support/reinject-sink.ts'
import { waitFor } from '../support/wait.ts'

const BOB = 'bob@elsewhere.test'
const JOE = 'joe@acme.test'

describe.skipIf(edgeMissing)(`a meeting of three people on two hosts${skipped}`, () => {
  let host: MailHost
  let app: App
  let dns: DnsServer
  let key: string
  let acme: Awaited<ReturnType<App['tenant']>>
  let globex: typeof acme
  let jane: DavClient
  let joe: DavClient
  let gina: DavClient
  let home: string
  beforeAll(async () => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
    key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const record = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    dns = await startDnsServer({
      'k._domainkey.elsewhere.test': { TXT: [`v=DKIM1; k=rsa; p=${record}`] },
    })
    host = await startMailHost({ env: { SVC_DNS_SERVERS: dns.address } })
    app = host.app
    acme = await app.tenant('acme')
    globex = await app.tenant('globex')
    await acme.post(ACCOUNTS, { email: JOE, password: PASSWORD, name: 'Joe' })
    jane = davClient(app, acme.email)
    joe = davClient(app, JOE)
    gina = davClient(app, globex.email)
    home = `/dav/calendars/${acme.accountId}/calendar/`
  })
  afterAll(async () => {
    await host?.stop()
    await dns?.stop()
  })

  /** Path and text of the event in the calendar of a mailbox. */
  async function eventOf(program: DavClient, uid: string) {
    const root = await program.propfind('/dav/', '<D:current-user-principal/>')
    const account = /principals\/([^/]+)\//.exec(root.text)?.[1]
    const calendar = `/dav/calendars/${account}/calendar/`
    for (const path of hrefsIn((await program.propfind(calendar, '<D:getetag/>', '1')).text)) {
      const { text } = await program.get(path)
      const plain = text.replace(/\r\n /g, '')
      if (plain.includes(`UID:${uid}`)) return { path, text: plain }
    }
    return undefined
  }
  const eventWith = (program: DavClient, uid: string, pattern: RegExp) =>
    waitFor(async () => {
      const found = await eventOf(program, uid)
      return found && pattern.test(found.text) ? found : undefined
    })
  const outside = (uid: string, method: string) =>
    waitFor(() =>
      host.sink
        .to(BOB)
        .map(({ data }) => ({ data, calendar: calendarIn(data) }))
        .find(
          ({ calendar }) =>
            calendar.includes(`UID:${uid}`) && calendar.includes(`METHOD:${method}`),
        ),
    )
  /** Mail of the other host, signed by its domain or not. */
  async function fromElsewhere(method: string, calendar: string, isSigned = true) {
    const transport = createTransport({
      host: '127.0.0.1',
      port: host.ports.smtp,
      ignoreTLS: true,
      ...(isSigned && {
        dkim: { domainName: 'elsewhere.test', keySelector: 'k', privateKey: key },
      }),
    })
    const envelope = { from: BOB, to: acme.email }
    await transport.sendMail({
      envelope,
      from: BOB,
      to: acme.email,
      subject: 'Budget',
      text: 'An answer.',
      icalEvent: {
        method,
        content: calendar.replace('BEGIN:VCALENDAR', `BEGIN:VCALENDAR\r\nMETHOD:${method}`),
      },
    })
    transport.close()
  }
  const answer = (uid: string, status: string) =>
    meeting(uid, acme.email, [`ATTENDEE;PARTSTAT=${status}:mailto:${BOB}`])

  it('is invited to, answered, moved and cancelled', async () => {
    const text = meeting('budget', acme.email, [JOE, globex.email, BOB])
    expect((await jane.put(`${home}budget.ics`, text)).status).toBe(201)

    const invitation = await outside('budget', 'REQUEST')
    expect(invitation.data).toContain('Subject: Invitation: Budget')
    await host.arrived(JOE, 'Invitation: Budget')
    for (const [program, email] of [
      [joe, JOE],
      [gina, globex.email],
    ] as const) {
      const { path, text: invited } = await eventWith(program, 'budget', /METHOD|UID/)
      expect(invited).toContain('PARTSTAT=NEEDS-ACTION')
      const status = program === joe ? 'ACCEPTED' : 'TENTATIVE'
      const answered = invited.replace(
        new RegExp(`PARTSTAT=NEEDS-ACTION([^\r]*mailto:${email})`),
        `PARTSTAT=${status}$1`,
      )
      expect((await program.put(path, answered)).status).toBe(204)
    }
    await eventWith(jane, 'budget', /PARTSTAT=ACCEPTED[^\r]*mailto:joe@acme.test/)
    await eventWith(jane, 'budget', /PARTSTAT=TENTATIVE[^\r]*mailto:admin@globex.test/)

    // This answer can be forged; without a signature it is mail, and no more.
    await fromElsewhere('REPLY', answer('budget', 'DECLINED'), false)
    await fromElsewhere('REPLY', answer('budget', 'ACCEPTED'))
    const { text: complete } = await eventWith(
      jane,
      'budget',
      /PARTSTAT=ACCEPTED[^\r]*mailto:bob@elsewhere.test/,
    )

    const moved = complete.replace('20261201T100000Z', '20261202T100000Z')
    expect((await jane.put(`${home}budget.ics`, moved)).status).toBe(204)
    await eventWith(joe, 'budget', /DTSTART:20261202T100000Z/)
    await eventWith(gina, 'budget', /DTSTART:20261202T100000Z/)
    await waitFor(() => host.sink.to(BOB).some(({ data }) => data.includes('Updated invitation')))

    expect((await jane.delete(`${home}budget.ics`)).status).toBe(204)
    await eventWith(joe, 'budget', /STATUS:CANCELLED/)
    await eventWith(gina, 'budget', /STATUS:CANCELLED/)
    await outside('budget', 'CANCEL')
  })

  it('is organized elsewhere, and answered from here', async () => {
    await fromElsewhere('REQUEST', meeting('visit', BOB, [acme.email]))
    const { path, text } = await eventWith(jane, 'visit', /UID:visit/)
    const accepted = text.replace('PARTSTAT=NEEDS-ACTION', 'PARTSTAT=ACCEPTED')
    expect((await jane.put(path, accepted)).status).toBe(204)
    const reply = await outside('visit', 'REPLY')
    expect(reply.calendar).toContain(`PARTSTAT=ACCEPTED:mailto:${acme.email}`)
  })

  it('does not come from mail that is marked as spam', async () => {
    const spam = 'YJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
    const calendar = meeting('junk', globex.email, [acme.email])
    const text = invitationMail(globex.email, 'REQUEST', calendar).replace('An invitation.', spam)
    const client = await host.submission()
    expect((await client.auth(globex.email, PASSWORD)).code).toBe(235)
    const reply = await client.send({ from: globex.email, to: acme.email, text })
    client.quit()
    expect(reply.code).toBe(250)
    expect(await eventOf(jane, 'junk')).toBeUndefined()
  })
})

describe.skipIf(edgeMissing)(`an invitation of a process that is killed${skipped}`, () => {
  let host: MailHost
  let silent: Awaited<ReturnType<typeof startReinjectSink>>
  let acme: Awaited<ReturnType<App['tenant']>>
  beforeAll(async () => {
    silent = await startReinjectSink()
    silent.state.mood = 'silent'
    host = await startMailHost({ elsewhere: ['caldav'] })
    acme = await host.app.tenant('acme')
  })
  afterAll(async () => {
    await cleanUp()
    await host?.stop()
    await silent?.stop()
  })

  const worker = (servicePort: number) =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'caldav'],
      env: {
        DATABASE_URL: host.app.database.url,
        SVC_SECRET_KEY: ROOT_KEY,
        MAIL_REINJECT_HOST: '127.0.0.1',
        MAIL_SERVICE_PORT: String(servicePort),
        SVC_MAIL_HOSTNAME: 'mx.edge.test',
      },
    })
  const waiting = () => host.app.core.db.selectFrom('calendar_mail').selectAll().execute()

  it('is sent once, with its Message-ID, by the next process', async () => {
    const first = await worker(silent.port)
    const here = { send: (...request: Tail) => send(first.base, ...request) }
    const path = `/dav/calendars/${acme.accountId}/calendar/killed.ics`
    const put = await davClient(here, acme.email).put(path, meeting('killed', acme.email, [BOB]))
    expect(put.status).toBe(201)
    // It has the message and waits for the mail server.
    await waitFor(async () => (await waiting()).some(({ lease_owner }) => lease_owner !== null))
    await first.killNode()
    const [row] = await waiting()
    const id = /Message-ID: (<[^>]+>)/.exec(row?.content ?? '')?.[1] as string
    expect(host.sink.to(BOB)).toEqual([])

    const second = await worker(host.ports.internal)
    await waitFor(async () => (await waiting()).length === 0)
    await waitFor(() => host.sink.to(BOB).length > 0)
    expect(host.sink.to(BOB)).toHaveLength(1)
    expect(host.sink.to(BOB)[0]?.data).toContain(`Message-ID: ${id}`)
    expect(await second.stop()).toMatchObject({ code: 0 })
  })
})

type Tail = Parameters<App['send']>
