import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, newIp, startApp } from '../../test/support/app.ts'
import { BROWSER, trackedMessage } from '../../test/support/tracked.ts'
import { waitFor } from '../../test/support/wait.ts'
import { recorderOf } from '../features/tracking/recipients/recorder.ts'
import { DAY_MS } from '../lib/time.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({
    env: { TRACKING_RATE_LIMIT_PER_IP: '1000000', SVC_PUBLIC_URL: 'http://127.0.0.1:8080' },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const ask = (method: string, path: string, body?: object, token = INTERNAL_TOKEN) =>
  app.send(method, path, {
    ...(body && { body }),
    headers: { 'user-agent': BROWSER, ...(token && { 'x-internal-token': token }) },
  })
const eventsOf = async (name: string, recipient: string) =>
  (await app.core.db.selectFrom('events').selectAll().where('event', '=', name).execute()).filter(
    ({ data }) => (data as { recipient: string }).recipient === recipient,
  )
const suppressionsOf = (email: string) =>
  app.core.db.selectFrom('suppressions').selectAll().where('email', '=', email).execute()

describe('every internal tracking route', () => {
  it.each([
    ['GET', '/open/x'],
    ['GET', '/click/x'],
    ['POST', '/api/tracking/inject'],
    ['POST', '/api/tracking/bounce'],
    ['POST', '/api/tracking/complaint'],
  ])('%s %s requires the internal token', async (method, path) => {
    const body = method === 'POST' ? {} : undefined
    expect((await ask(method, path, body, '')).status).toBe(401)
    expect((await ask(method, path, body, 'wrong')).status).toBe(401)
    const key = await acme.call(method, path, body)
    expect(key.status).toBe(401)
  })
})

const page = (more: object = {}) => ({
  html_content: '<body><a href="https://shop.test/">ż</a></body>',
  email_id: 'injected@acme.test',
  recipient: 'Ada@Far.test',
  tenant_id: acme.organizationId,
  domain_id: acme.domainId,
  ...more,
})

describe('POST /api/tracking/inject', () => {
  it('B4.9: writes no links without a public URL', async () => {
    const other = await startApp({ database: app.database })
    try {
      const headers = { 'x-internal-token': INTERNAL_TOKEN }
      const body = page()
      const answer = await other.send('POST', '/api/tracking/inject', { body, headers })
      expect(answer).toMatchObject({ status: 503 })
      expect(answer.text).toContain('set SVC_PUBLIC_URL')
    } finally {
      await other.stop()
    }
  })

  it('returns the HTML with working tracking URLs', async () => {
    const { status, body } = await ask('POST', '/api/tracking/inject', page())
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      tracking_injected: { open_tracking: true, click_tracking: true, links_rewritten: 1 },
      tracking_id: expect.stringMatching(/^[\w-]{32}$/),
      email_id: 'injected@acme.test',
      tenant_id: acme.organizationId,
      domain_id: acme.domainId,
    })
    expect(body.modified_content).toContain('>ż</a><img src=')
    const link = /href="([^"]+)"/.exec(body.modified_content)?.[1] ?? ''
    expect(body.tracking_urls).toEqual({
      open: expect.stringContaining(body.tracking_id),
      clicks: [{ url: 'https://shop.test/', tracked: link }],
    })
    const { pathname } = new URL(link)
    expect((await ask('GET', pathname)).headers.location).toBe('https://shop.test/')
    const inner = await ask('GET', `/click/${pathname.split('/').at(-1)}`)
    expect(inner).toMatchObject({ status: 302, headers: { location: 'https://shop.test/' } })
    const image = await ask('GET', `/open/${body.tracking_id}`)
    expect(image).toMatchObject({ status: 200, headers: { 'content-type': 'image/png' } })
    const statistics = await waitFor(async () => {
      const { body } = await acme.get('/api/v1/tracking/stats/email/injected@acme.test')
      const { opened, clicked } = body.data.statistics
      return opened?.total === 1 && clicked?.total === 2 && body.data
    })
    expect(statistics.timeline[0].recipient).toBe('ada@far.test')
    const left = await app.send('POST', new URL(body.unsubscribe_url).pathname)
    expect(left.body).toMatchObject({ status: 'unsubscribed', email: 'ada@far.test' })
  })

  it('leaves the HTML unchanged when open and click tracking are off', async () => {
    const off = { enable_open_tracking: false, enable_click_tracking: false }
    const { body } = await ask('POST', '/api/tracking/inject', page(off))
    expect(body.modified_content).toBe(page().html_content)
    expect(body.tracking_injected).toEqual({
      open_tracking: false,
      click_tracking: false,
      links_rewritten: 0,
    })
  })

  it('returns 422 for missing fields and 404 for a domain of another organization', async () => {
    const lacking = await ask('POST', '/api/tracking/inject', { html_content: 'x' })
    expect(lacking).toMatchObject({ status: 422, body: { detail: expect.any(Array) } })
    const foreign = await ask('POST', '/api/tracking/inject', page({ domain_id: globex.domainId }))
    expect(foreign).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
  })
})

describe('a raw bounce message', () => {
  const report = (to: string, lines: string[], returned: string[] = []) =>
    [
      'From: MAILER-DAEMON@far.test',
      `To: app@acme.test`,
      'Subject: Undelivered Mail Returned to Sender',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      '',
      'Sorry.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; far.test',
      '',
      `Final-Recipient: rfc822; ${to}`,
      ...lines,
      '',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      ...returned,
      '--b--',
      '',
    ].join('\r\n')
  const hand = (eml_content: string, tracking_info?: object) =>
    ask('POST', '/api/tracking/bounce', { eml_content, tracking_info })
  const FAILED = [
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such',
    ' user',
  ]

  it('is attributed through the Message-ID of the returned message', async () => {
    const { recipient, emailId } = await trackedMessage(app, acme)
    const answer = await hand(report(recipient.toUpperCase(), FAILED, [`Message-ID: <${emailId}>`]))
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        bounces: [
          {
            recipient,
            bounce_type: 'HARD',
            suppressed: true,
            organization_id: acme.organizationId,
          },
        ],
      },
    })
    expect(await suppressionsOf(recipient)).toMatchObject([
      { suppression_type: 'BOUNCE', reason: '550 5.1.1 no such user' },
    ])
    expect(await suppressionsOf('app@acme.test')).toEqual([])
    expect(await eventsOf('delivery.bounce.hard', recipient)).toHaveLength(1)
  })

  it('is attributed through List-Unsubscribe or the envelope id', async () => {
    const one = await trackedMessage(app, globex)
    const header = `List-Unsubscribe: <https://panel.test${one.unsubscribe}>`
    expect((await hand(report(one.recipient, FAILED, [header]))).body.bounces).toMatchObject([
      { recipient: one.recipient, organization_id: globex.organizationId },
    ])
    const two = await trackedMessage(app, globex)
    const text = report(two.recipient, FAILED).replace(
      'Reporting-MTA',
      `Original-Envelope-Id: ${two.id}\r\nReporting-MTA`,
    )
    expect((await hand(text)).body.bounces).toMatchObject([{ recipient: two.recipient }])
    expect(await eventsOf('delivery.bounce.hard', two.recipient)).toMatchObject([
      { data: { tracking_id: two.id } },
    ])
  })

  it.each([
    [['Action: failed', 'Status: 5.7.1', 'Diagnostic-Code: smtp; 554 5.7.1 spam'], 'BLOCK'],
    [
      ['Action: failed', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 554 blocked by reputation'],
      'BLOCK',
    ],
    [['Action: failed', 'Status: 5.2.2', 'Diagnostic-Code: smtp; 552 mailbox full'], 'SOFT'],
    [['Action: failed', 'Status: 4.4.1', 'Diagnostic-Code: x-unix; timed out'], 'SOFT'],
    [['Action: failed', 'Status: 5.1.2'], 'SOFT'],
    [['Action: failed', 'Status: 5.1.1'], 'HARD'],
    [['Action: FAILED', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 550 unknown user'], 'HARD'],
  ])('with the report %j is classified as %s', async (lines, bounce_type) => {
    const { recipient, emailId } = await trackedMessage(app, acme)
    const { body } = await hand(report(recipient, lines, [`Message-ID: <${emailId}>`]))
    expect(body.bounces).toMatchObject([{ bounce_type, suppressed: bounce_type === 'HARD' }])
  })

  it('without a delivery report is attributed through X-Failed-Recipients', async () => {
    const { recipient, id } = await trackedMessage(app, acme)
    const text = `From: x@far.test\r\nTo: app@acme.test\r\nX-Failed-Recipients: ${recipient}\r\n\r\nSorry:\r\n550 5.1.1 nobody of that name\r\n`
    expect((await hand(text, { tracking_id: id })).body.bounces).toMatchObject([
      { recipient, bounce_type: 'HARD' },
    ])
  })

  it('is rejected with 422 for a delay, for other mail and for an unrelated recipient', async () => {
    const { recipient, emailId } = await trackedMessage(app, acme)
    const returned = [`Message-ID: <${emailId}>`]
    for (const text of [
      report(recipient, ['Action: delayed', 'Status: 4.4.1'], returned),
      report('victim@far.test', FAILED, returned),
      report(recipient, FAILED, ['Message-ID: <made-up@acme.test>']),
      'Subject: hello\r\n\r\nNo bounce at all, 550 5.1.1\r\n',
      'x',
    ]) {
      expect((await hand(text)).status).toBe(422)
    }
    expect((await ask('POST', '/api/tracking/bounce', { eml_content: '' })).status).toBe(422)
    expect((await ask('POST', '/api/tracking/bounce', { recipient })).status).toBe(422)
    expect(await suppressionsOf('victim@far.test')).toEqual([])
    expect(await suppressionsOf(recipient)).toEqual([])
    const info = { organization_id: acme.organizationId }
    expect((await hand(report('victim@far.test', FAILED), info)).status).toBe(200)
  })
})

describe('a reported bounce', () => {
  const bounce = (recipient: string, bounce_type: string, tracking_info?: object) =>
    ask('POST', '/api/tracking/bounce', {
      recipient,
      bounce_type,
      bounce_reason: '550 5.1.1 no such user',
      ...(tracking_info && { tracking_info }),
    })

  it('suppresses the recipient for the sending organization and emits two events when hard', async () => {
    const message = await trackedMessage(app, acme)
    const { recipient, id: tracking_id } = message
    const answer = await bounce(recipient, 'hard', { tracking_id })
    expect(answer.body).toMatchObject({
      success: true,
      suppressed: true,
      organization_id: acme.organizationId,
    })
    expect(await suppressionsOf(recipient)).toMatchObject([
      { organization_id: acme.organizationId, suppression_type: 'BOUNCE', bounce_type: 'HARD' },
    ])
    const about = { org_id: acme.organizationId, domain: acme.domain }
    expect(await eventsOf('email.bounced', recipient)).toMatchObject([
      {
        ...about,
        source: 'tracking',
        data: { bounce_type: 'HARD', bounce_reason: '550 5.1.1 no such user' },
      },
    ])
    expect(await eventsOf('delivery.bounce.hard', recipient)).toMatchObject([
      { ...about, source: 'postfix', data: { bounce_type: 'HARD', tracking_id } },
    ])
  })

  it('suppresses the recipient after 5 soft bounces, and never after blocks', async () => {
    const { recipient, emailId: email_id } = await trackedMessage(app, acme)
    for (let time = 1; time <= 4; time++) {
      expect((await bounce(recipient, 'SOFT', { email_id })).body.suppressed).toBe(false)
      expect((await bounce(recipient, 'BLOCK', { email_id })).body.suppressed).toBe(false)
    }
    expect(await suppressionsOf(recipient)).toEqual([])
    expect((await bounce(recipient, 'SOFT', { email_id })).body.suppressed).toBe(true)
    expect(await eventsOf('delivery.bounce.soft', recipient)).toHaveLength(9)
  })

  it.each([undefined, {}, { organization_id: 'default' }, { tracking_id: 'x' }, { email_id: 'x' }])(
    'is rejected with 422 without a known organization: %j',
    async (info) => {
      const answer = await bounce('nobody@far.test', 'HARD', info)
      expect(answer).toMatchObject({
        status: 422,
        body: { error: expect.stringContaining('The sender of this message is unknown') },
      })
      expect(await suppressionsOf('nobody@far.test')).toEqual([])
    },
  )

  it('is rejected with 422 when its bounce_type is unknown', async () => {
    expect((await bounce('nobody@far.test', 'OTHER')).status).toBe(422)
  })
})

describe('a reported complaint', () => {
  it('suppresses the recipient for 30 days and emits an event', async () => {
    const recipient = 'angry@far.test'
    const { status, body } = await ask('POST', '/api/tracking/complaint', {
      recipient: 'Angry@Far.test',
      organization_id: acme.organizationId,
      domain_id: acme.domainId,
      email_id: '<annoying@acme.test>',
    })
    expect({ status, suppressed: body.suppressed }).toEqual({ status: 200, suppressed: true })
    const [row] = await suppressionsOf(recipient)
    expect(row).toMatchObject({ suppression_type: 'COMPLAINT', active: true })
    const days = (Date.parse(row?.expires_at ?? '') - app.clock.now().getTime()) / DAY_MS
    expect(Math.round(days)).toBe(30)
    expect(await eventsOf('delivery.complaint', recipient)).toMatchObject([
      {
        source: 'tracking',
        org_id: acme.organizationId,
        domain: acme.domain,
        data: { complaint_type: 'spam', organization_id: acme.organizationId },
      },
    ])
    const seen = await acme.get('/api/v1/tracking/stats/email/annoying@acme.test')
    expect(seen.body.data.statistics.complained).toMatchObject({ total: 1 })
  })
})

describe('a flood of opens', () => {
  it('drops opens that exceed the buffer, and still serves unsubscribes and health checks', async () => {
    const message = await trackedMessage(app, acme)
    const recorder = recorderOf(app.core)
    const before = { ...recorder.counts }
    const seen = {
      type: 'opened' as const,
      copy: message.id,
      url: null,
      query: null,
      ip: newIp(),
      userAgent: BROWSER,
      referer: null,
      language: null,
      automated: undefined,
      at: app.clock.now(),
    }
    for (let n = 0; n < 25_000; n++) recorder.add(seen)
    expect(recorder.counts.dropped - before.dropped).toBeGreaterThanOrEqual(4_000)
    const left = await app.send('POST', message.unsubscribe)
    expect(left.body.status).toBe('unsubscribed')
    expect((await app.send('GET', '/health')).status).toBe(200)
    await waitFor(() => recorder.waiting === 0)
    const { recorded, dropped } = recorder.counts
    expect(recorded - before.recorded + dropped - before.dropped).toBe(25_000)
  })
})
