import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { edgeEnvironment } from '../../src/edge/environment.ts'
import { PASSWORD } from '../support/app.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { cleanUp, type Server, startServer, temporaryFolder, until } from '../support/process.ts'
import { message, openSmtp, type SmtpClient } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const FROM = 'app@process.test'
const WRITERS = 8
const MIB = 1024 * 1024

/** The control plane as operators run it, between mail servers and a PostgreSQL that outlive it. */
describe.skipIf(edgeMissing)(`a control plane of its own process${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let login: { username: string; secret: string }
  let record: string
  let owner: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    host = await startMailHost({ filtering: [] })
    await host.stopFilter()
    acme = await host.app.tenant('acme')
    const made = await acme.post('/api/v1/domains/', { domain: 'process.test' })
    const domain_id = made.body.data.id as string
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
        ...edgeEnvironment(host.app.dataDir),
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

  it('loses nothing it has answered for when it is killed, and doubles little', async () => {
    const taken: string[] = []
    const deferred: string[] = []
    const others: string[] = []
    let isOver = false
    /** Sends one message after the other, each until it is taken, as mail programs do. */
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
    // Messages were in its hands when it was killed.
    expect(host.log('mail')).toMatch(/lost connection with proxy|premature end-of-input/)

    const copies = (id: string) =>
      ['a', 'b'].map((name) => host.sink.to(`${name}-${id}@outside.test`))
    await waitFor(() => taken.every((id) => copies(id).every(({ length }) => length > 0)), 30_000)
    const all = taken.flatMap(copies)
    expect(all.filter(({ length }) => length > 2)).toEqual([])
    expect(all.filter(({ length }) => length > 1).length).toBeLessThanOrEqual(2 * KILLS * WRITERS)
    for (const { data } of all.flat())
      expect(data).toMatch(/tracking\/pixel\/.*<\/p>|<\/p>.*pixel/s)
    expect(await server.stop()).toMatchObject({ code: 0 })
  }, 120_000)

  it('takes 50 MB through submission and back out, in bounded memory', async () => {
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
    // Both have to look at all of it.
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
    const { data } = await waitFor(() => host.sink.to('large@outside.test')[0], 40_000)
    expect(data).toMatch(/^X-Large: yes\r$/m)
    expect(data.endsWith(body)).toBe(true)
    const { body: found } = await owner.get('/api/v1/security/dlp/violations')
    expect(found.data.items).toEqual([])
    // Bytes, text and what is left of it without tags and the like: some 600 MB were seen.
    expect(most() - before).toBeLessThan(16 * 50)
    client.quit()
    await server.stop()
  }, 120_000)

  it('leaves 8-bit lines of 2,000 characters as they are', async () => {
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
