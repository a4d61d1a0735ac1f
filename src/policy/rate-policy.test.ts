import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../test/support/policy.ts'
import { waitFor } from '../../test/support/wait.ts'

const LIMITS = '/api/v1/rate-limiter/rate-limits'
// Only what a test sets is in its way.
const OPEN = Object.fromEntries(
  ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['SECOND', 'MINUTE'].map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, '0']),
  ),
)

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
const clients: { close(): void }[] = []
beforeEach(async () => {
  app = await startApp({ limiting: true, env: OPEN })
  acme = await app.tenant('acme')
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await app.stop()
})

const client = () => {
  const made = policyClient(app.limiter.policy.ports.rate as number)
  clients.push(made)
  return made
}
const limit = (body: object, path = 'mailbox/admin@acme.test') =>
  acme.post(`${LIMITS}/${path}`, body)
const usage = async (path = 'mailbox/admin@acme.test') =>
  (await acme.get(`${LIMITS}/${path}`)).body.data.usage.hourly_count
const events = async (name: string) => {
  await app.limiter.flush()
  const rows = await app.core.db
    .selectFrom('events')
    .select(['org_id', 'domain', 'data'])
    .where('event', '=', name)
    .orderBy('sequence')
    .execute()
  return rows as { org_id: string; domain: string; data: Record<string, unknown> }[]
}
const credential = async (more: object = {}) =>
  (
    await acme.post('/api/v1/smtp-credentials/', {
      domain_id: acme.domainId,
      username: 'acme-shop',
      ...more,
    })
  ).body.data

describe('limits at Postfix', () => {
  it('admit exactly the limit over 32 connections at once', async () => {
    await limit({ hourly_limit: 100 })
    const sendMany = async () => {
      const postfix = client()
      const actions: string[] = []
      for (let i = 0; i < 10; i++) actions.push(await postfix.ask(endOfMessage('admin@acme.test')))
      return actions
    }
    const actions = (await Promise.all(Array.from({ length: 32 }, sendMany))).flat()
    expect(actions.filter((action) => action === 'DUNNO')).toHaveLength(100)
    expect(new Set(actions.filter((action) => action !== 'DUNNO'))).toEqual(
      new Set([
        'DEFER_IF_PERMIT 4.7.1 Rate limit exceeded: mailbox admin@acme.test may pass 100 messages per hour',
      ]),
    )
    expect(await usage()).toBe(100)
    expect(await usage('domain/acme.test')).toBe(100)
  })

  it('count a message once, whether asked at DATA, at its end, or again after a lost connection', async () => {
    const message = endOfMessage('admin@acme.test')
    const first = client()
    await first.ask({ ...message, protocol_state: 'RCPT', recipient_count: 0 })
    expect(await usage()).toBe(0)
    await first.ask({ ...message, protocol_state: 'DATA' })
    await first.ask(message)
    await client().ask(message)
    expect(await usage()).toBe(1)
    await first.ask(endOfMessage('admin@acme.test', { recipient: '', recipient_count: 40 }))
    expect(await usage()).toBe(2)
  })

  it('refuse at the first recipient what could not be sent in the end', async () => {
    await limit({ hourly_limit: 1 })
    const postfix = client()
    await postfix.ask(endOfMessage('admin@acme.test'))
    const early = await postfix.ask(endOfMessage('admin@acme.test', { protocol_state: 'RCPT' }))
    expect(early).toMatch(/^DEFER_IF_PERMIT 4\.7\.1 /)
    expect(await usage()).toBe(1)
  })

  it('hold for a credential by its own limits, and at once when they change', async () => {
    const { id } = await credential({ hourly_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage('ACME-shop'))
    expect([await send(), await send()]).toEqual(['DUNNO', 'DUNNO'])
    expect(await send()).toBe(
      'DEFER_IF_PERMIT 4.7.1 Rate limit exceeded: credential acme-shop may pass 2 messages per hour',
    )
    await acme.patch(`/api/v1/smtp-credentials/${id}`, { hourly_limit: 3 })
    await waitFor(async () => (await send()) === 'DUNNO')
    expect(await send()).toMatch(/may pass 3 messages/)
    await acme.patch(`/api/v1/smtp-credentials/${id}`, { hourly_limit: null, daily_limit: null })
    await waitFor(async () => (await send()) === 'DUNNO')
  })

  it.each<[string, (id: string) => Promise<unknown>, RegExp]>([
    [
      'revoked',
      (id) => acme.post(`/api/v1/smtp-credentials/${id}/revoke`),
      /^REJECT 5\.7\.1 .*not active$/,
    ],
    [
      'deleted',
      (id) => acme.delete(`/api/v1/smtp-credentials/${id}`),
      /^REJECT 5\.7\.1 .*not known here$/,
    ],
  ])('reject an open session whose credential was %s', async (_what, end, expected) => {
    const { id } = await credential()
    const postfix = client()
    expect(await postfix.ask(endOfMessage('acme-shop'))).toBe('DUNNO')
    await end(id)
    await waitFor(async () => expected.test(await postfix.ask(endOfMessage('acme-shop'))))
  })

  it('reject an open session whose credential has expired, without anybody telling', async () => {
    await credential({ expires_at: new Date(app.clock.now().getTime() + 60_000).toISOString() })
    const postfix = client()
    expect(await postfix.ask(endOfMessage('acme-shop'))).toBe('DUNNO')
    app.clock.advance(61_000)
    expect(await postfix.ask(endOfMessage('acme-shop'))).toMatch(/^REJECT 5\.7\.1 .*has expired$/)
  })

  it('slide: what is older than the window no longer counts', async () => {
    await limit({ minute_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage('admin@acme.test'))
    expect([await send(), await send()]).toEqual(['DUNNO', 'DUNNO'])
    app.clock.advance(59_000)
    expect(await send()).toMatch(/2 messages per minute$/)
    app.clock.advance(3000)
    expect(await send()).toBe('DUNNO')
  })

  it('enforce a burst once it is set, and nothing of an inactive rule', async () => {
    await limit({ burst_limit: 2 })
    const postfix = client()
    const send = () => postfix.ask(endOfMessage('admin@acme.test'))
    await send()
    await send()
    expect(await send()).toMatch(/2 messages in 10 seconds$/)
    await limit({ active: false })
    expect(await send()).toBe('DUNNO')
    expect(await usage()).toBe(3)
  })

  it('name the rule with the lowest priority when several are in the way', async () => {
    await limit({ hourly_limit: 1, priority: 5 })
    await limit({ hourly_limit: 1, priority: 2 }, 'domain/acme.test')
    const postfix = client()
    const send = () => postfix.ask(endOfMessage('admin@acme.test'))
    await send()
    expect(await send()).toMatch(/domain acme\.test/)
    await limit({ priority: 1 })
    expect(await send()).toMatch(/mailbox admin@acme\.test/)
  })

  it('bind incoming mail by what its recipient has set, and by nothing that nobody has', async () => {
    const postfix = client()
    const arrive = (more = {}) =>
      postfix.ask(
        endOfMessage('', { sender: 'x@elsewhere.test', recipient: 'Admin@acme.test', ...more }),
      )
    for (let i = 0; i < 20; i++) expect(await arrive()).toBe('DUNNO')
    await limit({ direction: 'inbound', second_limit: 0, minute_limit: 0, hourly_limit: 22 })
    expect([await arrive(), await arrive()]).toEqual(['DUNNO', 'DUNNO'])
    expect(await arrive()).toMatch(/^DEFER_IF_PERMIT 4\.7\.1 .*22 messages per hour$/)
    expect(await arrive({ recipient: 'somebody@elsewhere.test' })).toBe('DUNNO')
    expect(await arrive({ sender: '', recipient: 'Admin@acme.test' })).toBe('DUNNO')
    expect(await arrive({ sender: 'admin@acme.test', recipient: '' })).toMatch(/^DEFER/)
  })
})

describe('events', () => {
  it('tell each threshold once, and refusals as they come until they are a flood', async () => {
    await limit({ hourly_limit: 10, warning_threshold: 50, critical_threshold: 90 })
    const postfix = client()
    for (let i = 0; i < 40; i++) await postfix.ask(endOfMessage('admin@acme.test'))
    const breaches = await events('rate_limit.threshold_breach')
    expect(breaches.map(({ data }) => [data.threshold_level, data.current_count])).toEqual([
      ['warning', 5],
      ['critical', 9],
    ])
    expect(breaches[0]).toMatchObject({
      org_id: acme.organizationId,
      domain: 'acme.test',
      data: {
        entity_type: 'mailbox',
        identifier: 'admin@acme.test',
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
    await postfix.ask(endOfMessage('admin@acme.test'))
    expect((await events('rate_limit.exceeded')).at(-1)?.data.refusals).toBe(11)
  })
})

describe('while the database is away', () => {
  it('limits whom it knows, lets others pass, and goes on when it is back', async () => {
    await limit({ hourly_limit: 2 })
    const postfix = client()
    await postfix.ask(endOfMessage('admin@acme.test'))
    const name = new URL(app.database.url).pathname.slice(1)
    const elsewhere = new URL(app.database.url)
    elsewhere.pathname = '/postgres'
    const outside = postgres(elsewhere.href, { max: 1, onnotice: () => {} })
    try {
      await outside.unsafe(`alter database "${name}" allow_connections false`)
      await outside`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      expect(await postfix.ask(endOfMessage('admin@acme.test'))).toBe('DUNNO')
      expect(await postfix.ask(endOfMessage('admin@acme.test'))).toMatch(/^DEFER_IF_PERMIT 4\.7\.1/)
      expect(await postfix.ask(endOfMessage('stranger-login'))).toBe('DUNNO')
      expect(app.limiter.policy.outages).toBe(1)
    } finally {
      await outside.unsafe(`alter database "${name}" allow_connections true`)
      await outside.end()
    }
    await waitFor(async () => /^REJECT/.test(await postfix.ask(endOfMessage('stranger-login'))))
    await waitFor(async () => (await events('rate_limit.exceeded')).length === 1)
  })
})

describe('after a restart', () => {
  it('goes on counting where it stopped', async () => {
    await limit({ hourly_limit: 5 })
    const postfix = client()
    for (let i = 0; i < 4; i++) await postfix.ask(endOfMessage('admin@acme.test'))
    await app.limiter.stop()
    const again = await startApp({ limiting: true, env: OPEN, database: app.database })
    try {
      const next = policyClient(again.limiter.policy.ports.rate as number)
      clients.push(next)
      const actions = [
        await next.ask(endOfMessage('admin@acme.test')),
        await next.ask(endOfMessage('admin@acme.test')),
      ]
      expect(actions).toEqual(['DUNNO', expect.stringMatching(/^DEFER_IF_PERMIT/)])
    } finally {
      await again.stop()
    }
  })
})

describe('what Postfix would never send', () => {
  it.each<[string, string | Buffer]>([
    ['lines that are none', 'nonsense\n=\n\x00\x01\x02\n=value\nrequest=x\n\n'],
    ['carriage returns', 'request=smtpd_access_policy\r\nprotocol_state=RCPT\r\n\r\n'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x3d, 0xc3, 0x28, 10, 10])],
    ['attributes with special names', '__proto__=x\nconstructor=y\nsasl_username=\n\n'],
    ['empty lines before the request', '\n\n\nrequest=smtpd_access_policy\n\n'],
  ])('is answered: %s', async (_what, bytes) => {
    expect(await client().send(bytes)).toBe('DUNNO')
  })

  it('gets nothing on a second line of the answer', async () => {
    const action = await client().ask(endOfMessage('evil\u2028login\u0007', { sender: 'x' }))
    expect(action).toBe('REJECT 5.7.1 evil?login?: this login is not known here')
  })

  it('is cut off when a line or a request has no end', async () => {
    await expect(client().send(`sender=${'x'.repeat(10_000)}`)).rejects.toThrow(/closed|ECONNRESET/)
    const lines = Array.from({ length: 5000 }, (_, i) => `name${i}=${'y'.repeat(20)}\n`)
    await expect(client().send(lines.join(''))).rejects.toThrow(/closed|ECONNRESET/)
  })

  it('is answered in order however it is cut into pieces, and a slow one holds nobody up', async () => {
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
