import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/time.ts'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const BASE = '/api/v1/security'
const FROM = '127.0.0.77'
const WHY = { reason: 'password spraying' }

describe.skipIf(edgeMissing)(`blocked IP addresses on a real mail host${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let operator: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    host = await startMailHost({ env: { AUTH_DELAY_SECS: '0' } })
    acme = await host.app.tenant('acme')
    operator = await host.app.operator('operator')
    // Right after a start a failure may still come from an outage before it, and is not counted.
    host.app.clock.advance(2 * MINUTE_MS)
  })
  afterAll(() => host.stop())

  async function imap(password = PASSWORD): Promise<boolean> {
    const client = await openImap({ port: host.ports.imaps, from: FROM })
    try {
      const { ok, status } = await client.login(acme.email, password)
      // Dovecot 2.3 restarts its login process now and then; such a failure is no refusal.
      return status.includes('[UNAVAILABLE]') ? imap(password) : ok
    } finally {
      client.end()
    }
  }
  async function pop3(): Promise<boolean> {
    const lines = await openLines({ port: host.ports.pop3s, tls: true, from: FROM })
    try {
      await lines.line()
      lines.send(`USER ${acme.email}\r\n`)
      await lines.line()
      lines.send(`PASS ${PASSWORD}\r\n`)
      return (await lines.line()).startsWith('+OK')
    } finally {
      lines.end()
    }
  }
  const doors = async () => ({
    imap: await imap(),
    pop3: await pop3(),
    smtp: (await host.authCode(acme.email, PASSWORD, FROM)) === 235,
    api:
      (
        await host.app.send('POST', '/api/v1/auth/login', {
          body: { email: acme.email, password: PASSWORD },
          from: FROM,
        })
      ).status === 200,
  })
  const open = { imap: true, pop3: true, smtp: true, api: true }
  const closed = { imap: false, pop3: false, smtp: false, api: false }

  it('closes IMAP, POP3, SMTP and the API at once to a blocked IP address, even with the right password', async () => {
    expect(await imap('wrong')).toBe(false)
    await waitFor(async () => {
      const { body } = await operator.get(`${BASE}/failed-auth?client_ip=${FROM}&service=imap`)
      return body.data.pagination.total === 1
    })
    expect(await doors()).toEqual(open)
    const blocked = await operator.post(`${BASE}/failed-auth/${FROM}/block`, {
      minutes: 5,
      ...WHY,
    })
    expect(blocked.status).toBe(200)
    expect(await doors()).toEqual(closed)
    expect((await operator.delete(`${BASE}/failed-auth/${FROM}/block`, WHY)).status).toBe(200)
    expect(await doors()).toEqual(open)
  })

  it('refuses mail from a blacklisted network from the next connection on', async () => {
    const send = async () => {
      const client = await host.submission(FROM)
      await client.auth(acme.email, PASSWORD)
      const text = message(acme.email, acme.email, 'rules')
      const reply = await client.send({ from: acme.email, to: acme.email, text })
      client.quit()
      return reply
    }
    expect((await send()).code).toBe(250)
    const rule = await operator.post(`${BASE}/ip-rules`, {
      rule_type: 'blacklist',
      ip_address: '127.0.0.64/26',
      organization_id: acme.organizationId,
      ...WHY,
    })
    expect((await send()).text).toMatch(/^554 5\.7\.1 .*blacklist/)
    await operator.delete(`${BASE}/ip-rules/${rule.body.data.id}`, WHY)
    expect((await send()).code).toBe(250)
  })

  it('closes IMAP, POP3 and the API to a blacklisted address without counting failures (B8)', async () => {
    const failures = async () =>
      (await operator.get(`${BASE}/failed-auth?client_ip=${FROM}&service=imap`)).body.data.items
    const before = await failures()
    const { body } = await operator.post(`${BASE}/ip-rules`, {
      rule_type: 'blacklist',
      ip_address: FROM,
      organization_id: acme.organizationId,
      ...WHY,
    })
    await waitFor(async () => !(await imap()))
    // Sending is refused for each recipient, where the reason reaches the sender.
    expect(await doors()).toEqual({ ...closed, smtp: true })
    const client = await openImap({ port: host.ports.imaps, from: FROM })
    const { status } = await client.login(acme.email, PASSWORD)
    client.end()
    expect(status).toContain('your address is on the blacklist of your organization')
    expect(await failures()).toEqual(before)
    await operator.delete(`${BASE}/ip-rules/${body.data.id}`, WHY)
    await waitFor(imap)
    expect(await doors()).toEqual(open)
  })
})
