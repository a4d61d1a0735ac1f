import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { cleanUp, type Server, startServer, temporaryFolder, until } from '../support/process.ts'
import { message, openSmtp, type SmtpClient } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const FROM = 'app@process.test'
const WRITERS = 8
const MIB = 1024 * 1024

/** The control plane as a separate process, with mail servers and a PostgreSQL that outlive it. */
describe.skipIf(edgeMissing)(`the content filter in a separate process${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let login: { username: string; secret: string }
  let record: string
  let owner: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    // The writers send more than the default limits allow.
    host = await startMailHost({
      env: {
        ORG_OUTBOUND_SECOND_DEFAULT: '1000',
        ORG_OUTBOUND_MINUTE_DEFAULT: '10000',
        DOMAIN_OUTBOUND_SECOND_DEFAULT: '1000',
        DOMAIN_OUTBOUND_MINUTE_DEFAULT: '10000',
      },
    })
    await host.stopFilter()
    acme = await host.app.tenant('acme')
    const made = await host.app.hostedDomain(acme, { domain: 'process.test' })
    const domain_id = made.id as string
    login = (await acme.post('/api/v1/smtp-credentials/', { domain_id })).body.data
    owner = await host.app.operator('owner')
    const keys = await owner.get(`/api/v1/domains/${domain_id}/dkim`)
    record = keys.body.data.items[0].record_value
  })
  afterEach(cleanUp)
  afterAll(() => host.stop())

  const controlPlane = async (): Promise<Server> => {
    const server = await startServer({
      dataDir: temporaryFolder(),
      env: {
        ...host.edge.environment,
        DATABASE_URL: host.app.database.url,
        SVC_SECRET_KEY: host.app.core.config.SVC_SECRET_KEY ?? '',
        SVC_MAIL_HOSTNAME: 'mx.edge.test',
        SVC_PUBLIC_URL: 'https://panel.process.test',
        TRACKING_ENABLED: 'true',
        POLICY_RATE_PORT: '0',
        POLICY_ACCESS_PORT: '0',
        AUTH_POLICY_PORT: '0',
      },
    })
    return server
  }
  const submission = async (patienceMs = 60_000): Promise<SmtpClient> => {
    const client = await openSmtp({ port: host.ports.submission, patienceMs })
    await client.startTls()
    expect((await client.auth(login.username, login.secret)).code).toBe(235)
    return client
  }

  it('loses no acknowledged message on a kill and duplicates few', async () => {
    const taken: string[] = []
    const deferred: string[] = []
    const others: string[] = []
    let isOver = false
    /** Sends one message at a time and retries it until it is accepted, like a mail program. */
    async function write(writer: number) {
      for (let count = 0; !isOver; count++) {
        const id = `${writer}-${count}`
        const page = `<p>Message ${id}. <a href="https://shop.example/">Buy</a></p>`
        const text = message(FROM, `a-${id}@outside.test`, `kill ${id}`, page).replace(
          '\n\n',
          '\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n',
        )
        for (let isTaken = false; !isTaken; ) {
          const client = await submission()
          const to = [`a-${id}@outside.test`, `b-${id}@outside.test`]
          const reply = await client.send({ from: FROM, to, text })
          client.quit()
          isTaken = reply.code === 250
          if (isTaken) taken.push(id)
          else if (reply.code === 451) deferred.push(reply.text)
          else others.push(reply.text)
        }
      }
    }
    let server = await controlPlane()
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    const KILLS = 3
    for (let kill = 0; kill < KILLS; kill++) {
      const before = taken.length
      await until(() => taken.length >= before + 10)
      await server.killNode()
      const away = deferred.length
      await until(() => deferred.length >= away + WRITERS)
      server = await controlPlane()
    }
    const before = taken.length
    await until(() => taken.length >= before + 10)
    isOver = true
    await writing
    expect(others).toEqual([])
    // The filter held messages when it was killed.
    expect(host.log('mail')).toMatch(/lost connection with proxy|premature end-of-input/)

    const copies = (id: string) =>
      ['a', 'b'].map((name) => host.sink.to(`${name}-${id}@outside.test`))
    await waitFor(() => taken.every((id) => copies(id).every(({ length }) => length > 0)))
    const all = taken.flatMap(copies)
    expect(all.filter(({ length }) => length > 2)).toEqual([])
    expect(all.filter(({ length }) => length > 1).length).toBeLessThanOrEqual(2 * KILLS * WRITERS)
    for (const { data } of all.flat())
      expect(data).toMatch(/tracking\/pixel\/.*<\/p>|<\/p>.*pixel/s)
    expect(await server.stop()).toMatchObject({ code: 0 })
  }, 120_000)

  it('passes 50 MB through submission in bounded memory', async () => {
    const server = await controlPlane()
    const client = await submission()
    const most = () =>
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) /
      1024
    const small = message(FROM, 'small@outside.test', 'small')
    expect((await client.send({ from: FROM, to: 'small@outside.test', text: small })).code).toBe(
      250,
    )
    const before = most()
    // Both stages have to scan the whole message.
    const rule = await acme.post('/api/v1/transport-rules/', {
      name: 'Large',
      conditions: [{ field: 'size', operator: 'greater_than', value: '1000000' }],
      actions: [{ type: 'add_header', params: { name: 'X-Large', value: 'yes' } }],
    })
    const policy = await owner.post('/api/v1/security/dlp/policies', {
      organization_id: acme.organizationId,
      name: 'Zeus',
      patterns: ['project zeus'],
      action: 'log_only',
      reason: 'to look at everything',
    })
    expect([rule.status, policy.status]).toEqual([201, 201])
    const line = `${'0123456789'.repeat(7)}\r\n`
    const body = line.repeat(Math.floor((50 * MIB - 2000) / line.length))
    const text = message(FROM, 'large@outside.test', 'large', body)
    const reply = await client.send({ from: FROM, to: 'large@outside.test', text })
    expect(reply.text).toMatch(/^250 /)
    const { data } = await waitFor(() => host.sink.to('large@outside.test')[0])
    expect(data).toMatch(/^X-Large: yes\r$/m)
    expect(data.endsWith(body)).toBe(true)
    const { body: found } = await owner.get('/api/v1/security/dlp/violations')
    expect(found.data.items).toEqual([])
    // Bytes, text, and text without tags: about 600 MB were observed.
    expect(most() - before).toBeLessThan(16 * 50)
    client.quit()
    await server.stop()
  }, 120_000)

  it('keeps 8-bit lines of 2,000 characters unchanged', async () => {
    const server = await controlPlane()
    const client = await submission()
    const line = 'Grüße,'.repeat(400).slice(0, 2000)
    const text = message(FROM, acme.email, 'wide', `${line}\n.${line}`).replace(
      '\n\n',
      '\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n',
    )
    for (const to of [acme.email, 'wide@outside.test']) {
      expect((await client.send({ from: FROM, to, text })).code).toBe(250)
    }
    client.quit()
    const inside = await host.arrived(acme.email, 'wide', { password: PASSWORD })
    const { data } = await waitFor(() => host.sink.to('wide@outside.test')[0])
    expect(Buffer.from(data, 'latin1').toString()).toContain(`\r\n${line}\r\n.${line}`)
    expect(signatureOf(data)).toBeDefined()
    expect(verifies(data, record)).toBe(true)
    expect(inside).toContain(`\r\n${line}\r\n.${line}`)
    await server.stop()
  })
})
