import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../test/support/policy.ts'
import { waitFor } from '../../test/support/wait.ts'
import { MINUTE_MS } from '../lib/time.ts'

const LIMITS = '/api/v1/rate-limiter/rate-limits'
// No default limits per second and minute: a test sets the limits it needs.
const OPEN = Object.fromEntries(
  ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['SECOND', 'MINUTE'].map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, '0']),
  ),
)

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
const clients: { close(): void }[] = []
let tenants = 0
beforeAll(async () => {
  app = await startApp({ limiting: true, env: OPEN })
})
beforeEach(async () => {
  tenants++
  acme = await app.tenant(`acme${tenants}`)
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(() => app.stop())

const client = () => {
  const made = policyClient(app.limiter.policy.ports.rate as number)
  clients.push(made)
  return made
}
const limit = (body: object, path = `mailbox/${acme.email}`) => acme.post(`${LIMITS}/${path}`, body)
const usage = async (path = `mailbox/${acme.email}`) =>
  (await acme.get(`${LIMITS}/${path}`)).body.data.usage.hourly_count
const events = async (name: string) => {
  await app.limiter.flush()
  const rows = await app.core.db
    .selectFrom('events')
    .select(['org_id', 'domain', 'data'])
    .where('event', '=', name)
    .where('org_id', '=', acme.organizationId)
    .orderBy('sequence')
    .execute()
  return rows as { org_id: string; domain: string; data: Record<string, unknown> }[]
}
const login = () => `shop-${acme.domain}`
const credential = async (more: object = {}) =>
  (
    await acme.post('/api/v1/smtp-credentials/', {
      domain_id: acme.domainId,
      username: login(),
      ...more,
    })
  ).body.data

describe('rate limits at Postfix', () => {
  it('admit exactly the limit over 32 connections at once', async () => {
    await limit({ hourly_limit: 100 })
    const sendMany = async () => {
      const postfix = client()
      const actions: string[] = []
      for (let i = 0; i < 10; i++) actions.push(await postfix.ask(endOfMessage(acme.email)))
      return actions
    }
    const actions = (await Promise.all(Array.from({ length: 32 }, sendMany))).flat()
    expect(actions.filter((action) => action === 'DUNNO')).toHaveLength(100)
    expect(new Set(actions.filter((action) => action !== 'DUNNO'))).toEqual(
      new Set([
        `DEFER_IF_PERMIT 4.7.1 Rate limit exceeded: mailbox ${acme.email} may pass 100 recipients per hour (login ${acme.email})`,
      ]),
    )
    expect(await usage()).toBe(100)
    expect(await usage(`domain/${acme.domain}`)).toBe(100)
  })

  it('count a message once at DATA, END-OF-MESSAGE and after a reconnect', async () => {
    const message = endOfMessage(acme.email)
    const first = client()
    await first.ask({ ...message, protocol_state: 'RCPT', recipient_count: 0 })
    expect(await usage()).toBe(0)
    await first.ask({ ...message, protocol_state: 'DATA' })
    await first.ask(message)
    await client().ask(message)
    expect(await usage()).toBe(1)
    await first.ask(endOfMessage(acme.email, { recipient: '', recipient_count: 40 }))
    expect(await usage()).toBe(41)
  })

  it('S11: limit recipients per hour and messages per minute', async () => {
    await limit({ hourly_limit: 50, minute_limit: 2 })
    const postfix = client()
    const send = (recipient_count: number) =>
      postfix.ask(endOfMessage(acme.email, { recipient: '', recipient_count }))
    expect(await send(40)).toBe('DUNNO')
    expect(await send(20)).toMatch(
      /^DEFER_IF_PERMIT 4\.7\.1 .*may pass 50 recipients per hour \(login .*\)$/,
    )
    // A retry cannot help a message with more recipients than the limit.
    expect(await send(51)).toMatch(
      /^REJECT 5\.7\.1 .*may pass 50 recipients per hour \(login .*\)$/,
    )
    expect(await send(10)).toBe('DUNNO')
    expect(await usage()).toBe(50)
    expect(await send(1)).toMatch(/may pass 2 messages per minute \(login .*\)$/)
  })

  it('defer at RCPT when the limit is already reached', async () => {
    await limit({ hourly_limit: 1 })
    const postfix = client()
    await postfix.ask(endOfMessage(acme.email))
    const early = await postfix.ask(endOfMessage(acme.email, { protocol_state: 'RCPT' }))
    expect(early).toMatch(/^DEFER_IF_PERMIT 4\.7\.1 /)
    expect(await usage()).toBe(1)
  })

  it('apply the limits of a credential, and changes of them at once', async () => {
    const { id } = await credential({ hourly_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage(login().toUpperCase()))
    expect([await send(), await send()]).toEqual(['DUNNO', 'DUNNO'])
    expect(await send()).toBe(
      `DEFER_IF_PERMIT 4.7.1 Rate limit exceeded: credential ${login()} may pass 2 recipients per hour (login ${login()})`,
    )
    await acme.patch(`/api/v1/smtp-credentials/${id}`, { hourly_limit: 3 })
    await waitFor(async () => (await send()) === 'DUNNO')
    expect(await send()).toMatch(/may pass 3 recipients/)
    await acme.patch(`/api/v1/smtp-credentials/${id}`, { hourly_limit: null, daily_limit: null })
    await waitFor(async () => (await send()) === 'DUNNO')
  })

  it.each<[string, (id: string) => Promise<unknown>, RegExp]>([
    [
      'revoked',
      (id) => acme.post(`/api/v1/smtp-credentials/${id}/revoke`),
      /^REJECT 5\.7\.1 .*not active \(login .*\)$/,
    ],
    [
      'deleted',
      (id) => acme.delete(`/api/v1/smtp-credentials/${id}`),
      /^REJECT 5\.7\.1 .*not known here \(login .*\)$/,
    ],
  ])('reject an open session whose credential was %s', async (_what, end, expected) => {
    const { id } = await credential()
    const postfix = client()
    expect(await postfix.ask(endOfMessage(login()))).toBe('DUNNO')
    await end(id)
    await waitFor(async () => expected.test(await postfix.ask(endOfMessage(login()))))
  })

  it('reject an open session whose credential has expired, without a notification', async () => {
    await credential({ expires_at: new Date(app.clock.now().getTime() + MINUTE_MS).toISOString() })
    const postfix = client()
    expect(await postfix.ask(endOfMessage(login()))).toBe('DUNNO')
    app.clock.advance(61_000)
    expect(await postfix.ask(endOfMessage(login()))).toMatch(
      /^REJECT 5\.7\.1 .*has expired \(login .*\)$/,
    )
  })

  it('use a sliding window: older messages no longer count', async () => {
    await limit({ minute_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage(acme.email))
    expect([await send(), await send()]).toEqual(['DUNNO', 'DUNNO'])
    app.clock.advance(59_000)
    expect(await send()).toMatch(/2 messages per minute \(login .*\)$/)
    app.clock.advance(3000)
    expect(await send()).toBe('DUNNO')
  })

  it('enforce a burst limit, and nothing while the rule is inactive', async () => {
    await limit({ burst_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage(acme.email))
    await send()
    await send()
    expect(await send()).toMatch(/2 messages in 10 seconds \(login .*\)$/)
    await limit({ active: false })
    expect(await send()).toBe('DUNNO')
    expect(await usage()).toBe(3)
  })

  it('name the rule with the lowest priority number when several are exceeded', async () => {
    await limit({ hourly_limit: 1, priority: 5 })
    await limit({ hourly_limit: 1, priority: 2 }, `domain/${acme.domain}`)
    const postfix = client()
    const send = () => postfix.ask(endOfMessage(acme.email))
    await send()
    expect(await send()).toContain(`domain ${acme.domain}`)
    await limit({ priority: 1 })
    expect(await send()).toContain(`mailbox ${acme.email}`)
  })

  it('apply to inbound mail only if the recipient has an inbound rule', async () => {
    const postfix = client()
    const arrive = (more = {}) =>
      postfix.ask(
        endOfMessage('', {
          sender: 'x@elsewhere.test',
          recipient: acme.email.toUpperCase(),
          ...more,
        }),
      )
    for (let i = 0; i < 20; i++) expect(await arrive()).toBe('DUNNO')
    await limit({ direction: 'inbound', hourly_limit: 22 })
    expect([await arrive(), await arrive()]).toEqual(['DUNNO', 'DUNNO'])
    expect(await arrive()).toMatch(/^DEFER_IF_PERMIT 4\.7\.1 .*22 recipients per hour$/)
    expect(await arrive({ recipient: 'somebody@elsewhere.test' })).toBe('DUNNO')
    expect(await arrive({ sender: '', recipient: acme.email.toUpperCase() })).toBe('DUNNO')
    expect(await arrive({ sender: acme.email, recipient: '' })).toMatch(/^DEFER/)
  })
})

describe('rate limit events', () => {
  it('are emitted once per threshold, and for rejections up to a limit per minute', async () => {
    await limit({ hourly_limit: 10, warning_threshold: 50, critical_threshold: 90 })
    const postfix = client()
    for (let i = 0; i < 40; i++) await postfix.ask(endOfMessage(acme.email))
    const breaches = await events('rate_limit.threshold_breach')
    expect(breaches.map(({ data }) => [data.threshold_level, data.current_count])).toEqual([
      ['warning', 5],
      ['critical', 9],
    ])
    expect(breaches[0]).toMatchObject({
      org_id: acme.organizationId,
      domain: acme.domain,
      data: {
        entity_type: 'mailbox',
        identifier: acme.email,
        window: 'hourly',
        limit: 10,
        direction: 'outbound',
        usage_percentage: 50,
      },
    })
    const exceeded = await events('rate_limit.exceeded')
    expect(exceeded).toHaveLength(20)
    expect(exceeded[0]?.data).toMatchObject({
      entity_type: 'mailbox',
      window: 'hourly',
      limit: 10,
      current_count: 10,
      message: expect.stringContaining('Rate limit exceeded'),
      refusals: 1,
    })
    app.clock.advance(61_000)
    await postfix.ask(endOfMessage(acme.email))
    expect((await events('rate_limit.exceeded')).at(-1)?.data.refusals).toBe(11)
  })
})

describe('malformed input on the policy port', () => {
  it.each<[string, string | Buffer]>([
    ['lines that are none', 'nonsense\n=\n\x00\x01\x02\n=value\nrequest=x\n\n'],
    ['carriage returns', 'request=smtpd_access_policy\r\nprotocol_state=RCPT\r\n\r\n'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x3d, 0xc3, 0x28, 10, 10])],
    ['attributes with special names', '__proto__=x\nconstructor=y\nsasl_username=\n\n'],
    ['empty lines before the request', '\n\n\nrequest=smtpd_access_policy\n\n'],
  ])('gets DUNNO: %s', async (_what, bytes) => {
    expect(await client().send(bytes)).toBe('DUNNO')
  })

  it('cannot add a second line to the response', async () => {
    const action = await client().ask(endOfMessage('evil\u2028login\u0007', { sender: 'x' }))
    expect(action).toBe(
      'REJECT 5.7.1 evil?login?: this login is not known here (login evil?login?)',
    )
  })

  it('closes the connection when a line or a request is too long', async () => {
    await expect(client().send(`sender=${'x'.repeat(10_000)}`)).rejects.toThrow(/closed|ECONNRESET/)
    const lines = Array.from({ length: 5000 }, (_, i) => `name${i}=${'y'.repeat(20)}\n`)
    await expect(client().send(lines.join(''))).rejects.toThrow(/closed|ECONNRESET/)
  })

  it('in split writes is answered in order, and a slow client delays no other', async () => {
    const slow = client()
    slow.socket.write('request=smtpd_access_policy\nsasl_user')
    const fast = client()
    const requests = ['a-login', 'b-login', 'c-login'].map(
      (name) => `request=smtpd_access_policy\nsasl_username=${name}\nprotocol_state=RCPT\n\n`,
    )
    const answers = Promise.all([fast.send(requests.join('')), fast.send(''), fast.send('')])
    expect((await answers).map((action) => action.split(' ')[2])).toEqual([
      'a-login:',
      'b-login:',
      'c-login:',
    ])
    for (const byte of 'name=d-login\nprotocol_state=RCPT\n') slow.socket.write(byte)
    expect(await slow.send('\n')).toMatch(/d-login/)
  })
})

describe('the rate policy while the database is down', () => {
  it('limits cached logins, admits others, and recovers afterwards', async () => {
    await limit({ hourly_limit: 2 })
    const postfix = client()
    await postfix.ask(endOfMessage(acme.email))
    const name = new URL(app.database.url).pathname.slice(1)
    const elsewhere = new URL(app.database.url)
    elsewhere.pathname = '/postgres'
    const outside = postgres(elsewhere.href, { max: 1, onnotice: () => {} })
    try {
      await outside.unsafe(`alter database "${name}" allow_connections false`)
      await outside`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      expect(await postfix.ask(endOfMessage(acme.email))).toBe('DUNNO')
      expect(await postfix.ask(endOfMessage(acme.email))).toMatch(/^DEFER_IF_PERMIT 4\.7\.1/)
      expect(await postfix.ask(endOfMessage('stranger-login'))).toBe('DUNNO')
      expect(app.limiter.policy.outages).toBe(1)
    } finally {
      await outside.unsafe(`alter database "${name}" allow_connections true`)
      await outside.end()
    }
    await waitFor(async () => /^REJECT/.test(await postfix.ask(endOfMessage('stranger-login'))))
    await waitFor(async () => (await events('rate_limit.exceeded')).length === 1)
    // Every connection of the API is new before the next test.
    await waitFor(async () => (await limit({ hourly_limit: 2 })).status < 300)
  })
})

describe('the rate policy after a restart', () => {
  it('continues with the stored counts', async () => {
    expect((await limit({ hourly_limit: 5 })).status).toBeLessThan(300)
    const postfix = client()
    const { outages } = app.limiter.policy
    let asked = 0
    await waitFor(async () => {
      asked++
      await postfix.ask(endOfMessage(acme.email))
      return (await usage()) === 4
    })
    // Only a message that met a connection of the outage before passes without being counted.
    expect(asked).toBe(4 + app.limiter.policy.outages - outages)
    await app.limiter.stop()
    const again = await startApp({ limiting: true, env: OPEN, database: app.database })
    try {
      const next = policyClient(again.limiter.policy.ports.rate as number)
      clients.push(next)
      const actions = [
        await next.ask(endOfMessage(acme.email)),
        await next.ask(endOfMessage(acme.email)),
      ]
      expect(actions).toEqual(['DUNNO', expect.stringMatching(/^DEFER_IF_PERMIT/)])
    } finally {
      await again.stop()
    }
  })
})
