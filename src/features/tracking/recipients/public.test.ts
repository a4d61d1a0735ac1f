import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../../test/support/app.ts'
import type { Options } from '../../../../test/support/http.ts'
import { BROWSER, trackedMessage } from '../../../../test/support/tracked.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { isSuppressed } from '../../../hosting/suppressions.repository.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let message: Awaited<ReturnType<typeof trackedMessage>>
beforeAll(async () => {
  app = await startApp({ env: { TRACKING_RATE_LIMIT_PER_IP: '20' } })
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())
beforeEach(async () => {
  message = await trackedMessage(app, acme, {
    links: ['https://shop.test/a?utm_source=mail', 'https://shop.test/b'],
  })
})

const visit = (path: string, { headers, ...more }: Options = {}, method = 'GET') =>
  app.send(method, path, {
    from: newIp(),
    ...more,
    headers: { 'user-agent': BROWSER, ...headers },
  })
const recorded = (emailId = message.emailId) =>
  app.core.db
    .selectFrom('tracking_events')
    .selectAll()
    .where('email_id', '=', emailId)
    .orderBy('id')
    .execute()
const eventsAbout = async (name: string, emailId = message.emailId) =>
  (await app.core.db.selectFrom('events').selectAll().where('event', '=', name).execute()).filter(
    ({ data }) => (data as { email_id: string }).email_id === emailId,
  )
/** Opens another message and waits until that is stored, and with it all earlier events. */
const settled = async () => {
  const last = await trackedMessage(app, acme)
  await visit(last.pixel)
  await waitFor(async () => (await recorded(last.emailId)).length > 0)
}

describe('the tracking pixel', () => {
  it('is one uncacheable image for every id, and counts only valid ids', async () => {
    const { pixel } = message
    const forged = `${pixel.slice(0, -1)}${pixel.endsWith('A') ? 'B' : 'A'}`
    const ids = [
      pixel,
      `${pixel}==`,
      forged,
      '/api/v1/tracking/pixel/nothing',
      message.link(0).replace('click', 'pixel'),
    ]
    const answers = []
    for (const path of ids) answers.push(await visit(path))
    for (const { status, headers, text } of answers) {
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'no-cache, no-store, must-revalidate',
        pragma: 'no-cache',
        expires: '0',
        'cross-origin-resource-policy': 'cross-origin',
      })
      expect(text).toBe(answers[0]?.text)
    }
    expect(answers[0]?.text).toContain('PNG')
    await settled()
    // The id counts with and without padding; forged ids and the id of a link do not.
    expect(await recorded()).toHaveLength(2)
  })

  it('records the open and emits an event', async () => {
    const from = newIp()
    await visit(message.pixel, { from, headers: { 'accept-language': 'nl' } })
    const [event] = await waitFor(async () => {
      const rows = await recorded()
      return rows.length > 0 && rows
    })
    expect(event).toMatchObject({
      organization_id: acme.organizationId,
      domain_id: acme.domainId,
      domain: acme.domain,
      tracking_id: message.id,
      recipient: message.recipient,
      event_type: 'opened',
      automated: false,
      ip_address: from,
      user_agent: BROWSER,
      accept_language: 'nl',
      device_type: 'desktop',
      browser: 'Firefox',
      operating_system: 'Windows',
      additional_data: null,
    })
    const [told] = await eventsAbout('tracking.open')
    expect(told).toMatchObject({
      source: 'tracking',
      org_id: acme.organizationId,
      domain: acme.domain,
      data: {
        email_id: message.emailId,
        message_id: message.emailId.split('@')[0],
        recipient: message.recipient,
        organization_id: acme.organizationId,
        ip_address: from,
        user_agent: BROWSER,
      },
    })
  })

  it.each([
    ['head', {}, 'HEAD'],
    ['prefetch', { 'sec-purpose': 'prefetch;prerender' }, 'GET'],
    ['prefetch', { purpose: 'prefetch' }, 'GET'],
    ['no_user_agent', { 'user-agent': '' }, 'GET'],
    ['privacy_proxy', { 'user-agent': 'Mozilla/5.0' }, 'GET'],
    ['program', { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)' }, 'GET'],
    ['program', { 'user-agent': 'curl/8.5.0' }, 'GET'],
  ])('marks an automated open as %s: %j', async (reason, headers, method) => {
    await visit(message.pixel, { headers: headers as Record<string, string> }, method)
    await settled()
    expect(await recorded()).toMatchObject([{ automated: true, automated_reason: reason }])
    expect(await eventsAbout('tracking.open')).toEqual([])
  })

  it('marks an open right after sending as automated, and a later one as human', async () => {
    message = await trackedMessage(app, acme, { sentAt: app.clock.now() })
    await visit(message.pixel)
    app.clock.advance(3000)
    await visit(message.pixel)
    await settled()
    expect((await recorded()).map(({ automated_reason }) => automated_reason)).toEqual([
      'too_soon',
      null,
    ])
  })

  it('counts opens through the image proxy of a webmail service as human', async () => {
    const agent =
      'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'
    await visit(message.pixel, { headers: { 'user-agent': agent } })
    await settled()
    expect(await recorded()).toMatchObject([
      { automated: false, device_type: 'proxy', browser: 'Gmail' },
    ])
  })

  it('records at most 20 events per client IP and still serves all requests', async () => {
    const from = newIp()
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => visit(message.pixel, { from })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await settled()
    expect(await recorded()).toHaveLength(20)
    const click = await visit(message.link(1), { from })
    expect(click).toMatchObject({ status: 302, headers: { location: 'https://shop.test/b' } })
    await settled()
    expect(await recorded()).toHaveLength(20)
  })
})

describe('a tracked link', () => {
  it('redirects to the stored URL only', async () => {
    const answer = await visit(`${message.link(0)}?utm_source=mail&url=https%3A%2F%2Fevil.test%2F`)
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: 'https://shop.test/a?utm_source=mail' },
    })
    await settled()
    expect(await recorded()).toMatchObject([
      {
        event_type: 'clicked',
        url: 'https://shop.test/a?utm_source=mail',
        additional_data: {
          original_url: 'https://shop.test/a?utm_source=mail',
          query_params: { utm_source: 'mail', url: 'https://evil.test/' },
        },
      },
    ])
    expect(await eventsAbout('tracking.click')).toMatchObject([
      { data: { url: 'https://shop.test/a?utm_source=mail', recipient: message.recipient } },
    ])
  })

  it('returns 404 without a redirect for a forged or unknown id', async () => {
    const other = await trackedMessage(app, acme)
    for (const path of [
      '/api/v1/tracking/click/nothing',
      message.pixel.replace('pixel', 'click'),
      `${message.link(0).slice(0, -2)}AA`,
      message.link(2),
      other.link(0),
    ]) {
      const answer = await visit(`${path}?url=https%3A%2F%2Fevil.test%2F`)
      expect(answer).toMatchObject({
        status: 404,
        body: { type: 'error', msg: 'Invalid tracking ID', error: 'Invalid tracking ID' },
      })
      expect(answer.headers.location).toBeUndefined()
    }
  })
})

const isOut = () =>
  isSuppressed(app.core.db, message.recipient, acme.organizationId, app.clock.now())

describe('the unsubscribe page', () => {
  it('changes nothing on GET and is identical for every id', async () => {
    const page = await visit(message.unsubscribe)
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.text).toContain('<form method="post">')
    const strange = await visit(
      '/api/v1/tracking/unsubscribe/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    )
    expect(strange).toMatchObject({ status: 200, text: page.text })
    expect(await isOut()).toBe(false)
    expect(await recorded()).toEqual([])
  })

  it('shows the brand of the sender, escaped (B2.8)', async () => {
    const admin = await app.operator('admin')
    const path = `/api/v1/whitelabel/config/${acme.organizationId}`
    await admin.put(path, { brand_name: 'Acme <b>& Co', support_email: 'help@acme.test' })
    const { text } = await visit(message.unsubscribe)
    expect(text).toContain('<strong>Acme &#60;b&#62;&#38; Co</strong>')
    expect(text).toContain('href="mailto:help@acme.test"')
    await admin.delete(path)
    expect((await visit(message.unsubscribe)).text).not.toContain('Acme')
  })

  it('loads no resources and runs no scripts', async () => {
    const { headers, text } = await visit(message.unsubscribe)
    expect(text).not.toMatch(/<script|<img|<link|https?:|src=/i)
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
    expect(policy).not.toContain('unsafe')
  })

  it('has a form that unsubscribes and returns a page', async () => {
    const answer = await visit(
      message.unsubscribe,
      {
        raw: 'List-Unsubscribe=One-Click',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'text/html,application/xhtml+xml',
        },
      },
      'POST',
    )
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.text).toContain('You are unsubscribed')
    expect(answer.text).not.toContain(message.recipient)
    expect(await isOut()).toBe(true)
  })
})

describe('one-click unsubscribe', () => {
  it.each([
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
    ],
    ['application/json', '{"feedback": "too many"}'],
    ['application/json', 'not even JSON'],
    ['application/octet-stream', ''],
  ])('accepts a body of type %s: %j', async (type, raw) => {
    const answer = await visit(
      message.unsubscribe,
      { raw, headers: { 'content-type': type } },
      'POST',
    )
    const outcome = { status: 'unsubscribed', email: message.recipient }
    expect(answer).toMatchObject({
      status: 200,
      body: { type: 'success', data: outcome, ...outcome },
    })
    const suppressed = await app.core.db
      .selectFrom('suppressions')
      .selectAll()
      .where('email', '=', message.recipient)
      .execute()
    expect(suppressed).toMatchObject([
      {
        organization_id: acme.organizationId,
        suppression_type: 'UNSUBSCRIBE',
        active: true,
        expires_at: null,
        reason: expect.stringContaining('one-click-post'),
      },
    ])
  })

  it('is stored once with its reason under concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        visit(message.unsubscribe, { body: { reason: 'too often' } }, 'POST'),
      ),
    )
    for (const { status, body } of answers) {
      expect({ status, email: body.email }).toEqual({ status: 200, email: message.recipient })
    }
    expect(await recorded()).toMatchObject([
      { event_type: 'unsubscribed', additional_data: { reason: 'too often' } },
    ])
    expect(await eventsAbout('tracking.unsubscribe')).toMatchObject([
      {
        data: {
          email: message.recipient,
          reason: 'too often',
          email_id: message.emailId,
          organization_id: acme.organizationId,
        },
      },
    ])
  })

  it('works again after the suppression was lifted', async () => {
    await visit(message.unsubscribe, {}, 'POST')
    await acme.delete(`/api/v1/tracking/suppress/${message.recipient}`)
    expect(await isOut()).toBe(false)
    await visit(message.unsubscribe, {}, 'POST')
    expect(await isOut()).toBe(true)
  })

  it('returns 404 for an unknown id', async () => {
    for (const path of [
      '/api/v1/tracking/unsubscribe/nothing',
      message.link(0).replace('click', 'unsubscribe'),
    ]) {
      expect(await visit(path, {}, 'POST')).toMatchObject({
        status: 404,
        body: { error: 'Invalid tracking ID' },
      })
      const page = await visit(path, { headers: { accept: 'text/html' } }, 'POST')
      expect(page).toMatchObject({ status: 404, text: expect.stringContaining('does not work') })
    }
    expect(await isOut()).toBe(false)
  })

  it('is never throttled', async () => {
    const from = newIp()
    for (let n = 0; n < 30; n++) await visit(message.pixel, { from })
    expect(await visit(message.unsubscribe, { from }, 'POST')).toMatchObject({ status: 200 })
    expect(await isOut()).toBe(true)
  })
})
