import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type App,
  type Client,
  clientOf,
  INTERNAL_TOKEN,
  startApp,
} from '../../../test/support/app.ts'
import { waitFor } from '../../../test/support/wait.ts'

let app: App
let service: Client
beforeAll(async () => {
  app = await startApp({ limiting: true })
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
  await app.tenant('acme')
})
afterAll(() => app.stop())

describe('the internal rate limit routes', () => {
  it('reject a request without the internal token, directly and through a proxy (S5)', async () => {
    const proxied: Record<string, string> = { 'x-forwarded-for': '203.0.113.9' }
    for (const headers of [{}, proxied]) {
      const answer = await app.send('POST', '/check_rate_limit', {
        body: { email: 'admin@acme.test' },
        headers,
      })
      expect(answer).toMatchObject({
        status: 401,
        body: { msg: expect.stringContaining('Internal token required') },
      })
    }
  })

  it.each([
    ['/check_rate_limit', {}, 'missing_email'],
    ['/check_rate_limit', { email: 'a@acme.test', direction: 'up' }, 'invalid_direction'],
    ['/increment_usage', { email: 'admin@acme.test', amount: 0 }, 'invalid_amount'],
    ['/increment_usage', { email: 'a@nowhere.test' }, 'unknown_email'],
  ])('return 400 for POST %s %j with the error %s', async (path, body, error) => {
    expect(await service.post(path, body)).toMatchObject({ status: 400, body: { error } })
  })

  it('decide about a question of another process, and reject a malformed one with 422', async () => {
    const organizationId = 'org_decided'
    const bound = {
      subject: {
        organizationId,
        type: 'mailbox',
        identifier: 'a@decided.test',
        direction: 'outbound',
      },
      limits: [0, 0, 1, 0, 0, 0],
      warning: 80,
      critical: 95,
    }
    const question = {
      organizationId,
      bounds: [bound],
      messages: 1,
      recipients: 1,
      record: true,
      now: app.clock.now().getTime(),
    }
    expect(await service.post('/decide', question)).toMatchObject({ status: 200 })
    const refused = await service.post('/decide', question)
    expect(refused.body).toMatchObject({ refused: { window: 'hourly', count: 1, limit: 1 } })
    for (const broken of [
      {},
      [],
      { ...question, bounds: undefined },
      { ...question, now: 'today' },
      { ...question, recipients: -1 },
      { ...question, bounds: [{ ...bound, limits: [1] }] },
      { ...question, bounds: [{ ...bound, subject: { ...bound.subject, type: 'host' } }] },
      { ...question, bounds: Array.from({ length: 17 }, () => bound) },
    ]) {
      expect(`${(await service.post('/decide', broken)).status} ${JSON.stringify(broken)}`).toMatch(
        /^422 /,
      )
    }
  })

  it('set the limits of an organization, which apply to its mailboxes', async () => {
    const initech = await app.tenant('initech')
    const set = await service.post('/set_limits', {
      entity_type: 'organization',
      identifier: initech.organizationId,
      hourly_limit: 2,
      priority: 1,
    })
    expect(set.status).toBe(200)
    await service.post('/increment_usage', { email: 'admin@initech.test', amount: 2 })
    const answer = await service.post('/check_rate_limit', { email: 'admin@initech.test' })
    expect(answer).toMatchObject({
      status: 429,
      body: { allowed: false, entity_type: 'organization', window: 'hourly', limit: 2, count: 2 },
    })
    const usage = await service.get(`/get_usage/organization/${initech.organizationId}`)
    expect(usage.body).toMatchObject({ success: true, usage: { hourly_count: 2 } })
  })

  it('reject a suppressed recipient with 403 and count nothing', async () => {
    const hooli = await app.tenant('hooli')
    const ask = (more: object = {}) =>
      service.post('/check_rate_limit', {
        email: 'admin@hooli.test',
        recipient: 'Gone@far.test',
        record: true,
        ...more,
      })
    const list = { email: 'gone@far.test', reason: 'asked for it' }
    expect((await hooli.post('/api/v1/tracking/suppress', list)).status).toBeLessThan(300)
    expect(await waitFor(async () => (await ask()).status === 403 && ask())).toMatchObject({
      status: 403,
      body: {
        allowed: false,
        suppressed: true,
        message: expect.stringMatching(/^gone@far\.test: the address is suppressed/),
      },
    })
    const counted = async () =>
      (await service.get('/get_usage/mailbox/admin@hooli.test')).body.usage.hourly_count
    expect(await counted()).toBe(0)
    // A suppression applies to its own organization, to single recipients and to outbound mail.
    expect((await ask({ email: 'admin@acme.test' })).status).toBe(200)
    expect((await ask({ recipient_count: 2 })).status).toBe(200)
    expect((await ask({ direction: 'inbound' })).status).toBe(200)
    expect((await ask({ recipient: 'here@far.test' })).status).toBe(200)
    expect(await counted()).toBe(3)
    expect((await hooli.delete('/api/v1/tracking/suppress/gone@far.test')).status).toBe(200)
    expect(await waitFor(async () => (await ask()).status === 200)).toBe(true)
  })

  it('return a policy action as text', async () => {
    const text = 'request=smtpd_access_policy\nprotocol_state=RCPT\nsasl_username=nobody-login\n\n'
    const response = await fetch(`${app.base}/policy`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-internal-token': INTERNAL_TOKEN },
      body: text,
    })
    expect(await response.text()).toBe(
      'action=REJECT 5.7.1 nobody-login: this login is not known here\n\n',
    )
  })
})
