import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'
import { METRICS } from './alert-metrics.ts'

const RULES = '/api/v1/platform/alerts/rules'
const CHANNELS = '/api/v1/platform/alerts/channels'

let app: App
let operator: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
let sink: Awaited<ReturnType<typeof startSink>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  sink = await startSink()
  receiver = await startReceiver()
  app = await startApp({
    env: {
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(sink.port),
    },
  })
  operator = await app.operator('operator')
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await receiver.stop()
  await sink.stop()
})

const rule = { name: 'Queue is long', metric: 'queue_depth', comparator: '>', threshold: 100 }
const channel = () => ({ name: 'Pager', type: 'webhook', target: receiver.url })
const create = async (more: object = {}) =>
  (await operator.post(RULES, { ...rule, ...more })).body.data
const createChannel = async (more: object = {}) =>
  (await operator.post(CHANNELS, { ...channel(), ...more })).body.data

describe('alert rules', () => {
  it.each([
    [{ metric: 'drop table' }, 'metric'],
    [{ comparator: '!=' }, 'comparator'],
    [{ severity: 'panic' }, 'severity'],
    [{ for_seconds: 86_401 }, 'for_seconds'],
    [{ for_seconds: -1 }, 'for_seconds'],
    [{ name: '' }, 'name'],
    [{ description: 7 }, 'description'],
    [{ threshold: 'many' }, 'threshold'],
    [{ channel_ids: 'all' }, 'channel_ids'],
  ])('rejects a rule with %j', async (wrong, field) => {
    const answer = await operator.post(RULES, { ...rule, ...wrong })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } })
  })

  it('rejects a rule with an unknown channel or organization', async () => {
    expect(await operator.post(RULES, { ...rule, channel_ids: ['nope'] })).toMatchObject({
      status: 422,
      body: { msg: 'unknown channel_ids: nope' },
    })
    const stray = { ...rule, metric: 'quarantine_pending', organization_id: 'nope' }
    expect(await operator.post(RULES, stray)).toMatchObject({
      status: 422,
      body: { msg: 'organization_id does not exist' },
    })
  })

  it('rejects an organization_id for a metric of the whole platform', async () => {
    const answer = await operator.post(RULES, { ...rule, organization_id: acme.organizationId })
    expect(answer.status).toBe(422)
    expect(answer.body.msg).toMatch(/^queue_depth is measured for the whole platform/)
    const narrow = await create({
      metric: 'quarantine_pending',
      organization_id: acme.organizationId,
    })
    const moved = await operator.put(`${RULES}/${narrow.id}`, { metric: 'queue_depth' })
    expect(moved.status).toBe(422)
    const widened = await operator.put(`${RULES}/${narrow.id}`, {
      metric: 'queue_depth',
      organization_id: null,
    })
    expect(widened).toMatchObject({ status: 200, body: { data: { organization_id: null } } })
  })

  it('returns 404 for every operation on an unknown rule', async () => {
    const gone = { status: 404, body: { msg: 'Alert rule not found' } }
    expect(await operator.get(`${RULES}/nope`)).toMatchObject(gone)
    expect(await operator.put(`${RULES}/nope`, { name: 'x' })).toMatchObject(gone)
    expect(await operator.post(`${RULES}/nope/evaluate`)).toMatchObject(gone)
    expect(await operator.delete(`${RULES}/nope`, { reason: 'x' })).toMatchObject(gone)
  })

  it('rejects an update with an empty body and a delete without a reason', async () => {
    const { id } = await create()
    expect(await operator.put(`${RULES}/${id}`, {})).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
    expect((await operator.delete(`${RULES}/${id}`, {})).status).toBe(422)
    expect((await operator.get(`${RULES}/${id}`)).status).toBe(200)
  })

  it('stores the sent fields of a rule with defaults, and changes or clears them', async () => {
    const { id: channelId } = await createChannel()
    const answer = await operator.post(RULES, { ...rule, channel_ids: [channelId, channelId] })
    expect(answer).toMatchObject({ status: 201, body: { msg: 'Alert rule created' } })
    const { data } = answer.body
    expect(data).toEqual({
      id: data.id,
      ...rule,
      description: null,
      for_seconds: 0,
      severity: 'warning',
      enabled: true,
      channel_ids: [channelId],
      organization_id: null,
      last_fired_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const changed = await operator.put(`${RULES}/${data.id}`, { description: 'why', threshold: 5 })
    expect(changed.body.data).toMatchObject({ description: 'why', threshold: 5, name: rule.name })
    const cleared = await operator.put(`${RULES}/${data.id}`, { description: null })
    expect(cleared.body.data.description).toBeNull()
  })

  it('filters rules by text, metric and enabled, and sorts them', async () => {
    await create({ name: 'zebra 100%', severity: 'info', enabled: false })
    await create({ name: 'Aardvark', metric: 'services_down', severity: 'critical' })
    const names = async (query: string) =>
      (await operator.get(`${RULES}?${query}`)).body.data.items.map(
        (one: { name: string }) => one.name,
      )
    expect(await names('q=100%25')).toEqual(['zebra 100%'])
    expect(await names('metric=services_down')).toEqual(['Aardvark'])
    expect(await names('enabled=false')).toEqual(['zebra 100%'])
    expect((await names('sort=name&direction=asc'))[0]).toBe('Aardvark')
    for (const bad of ['sort=threshold', 'direction=up', 'metric=x', 'severity=x']) {
      expect((await operator.get(`${RULES}?${bad}`)).status, bad).toBe(422)
    }
  })

  it('evaluates a rule as a dry run that sends and records nothing', async () => {
    await app.core.db
      .insertInto('quarantine')
      .values({ id: 'q1', reason: 'spam', expires_at: '2099-01-01', organization_id: null })
      .execute()
    const { id } = await create({
      metric: 'quarantine_pending',
      comparator: '>=',
      threshold: 1,
      channel_ids: [(await createChannel()).id],
      for_seconds: 600,
    })
    const before = receiver.got.length
    const { status, body } = await operator.post(`${RULES}/${id}/evaluate`)
    expect({ status, msg: body.msg }).toEqual({ status: 200, msg: 'Alert rule evaluated' })
    expect(body.data).toEqual({
      rule_id: id,
      name: rule.name,
      metric: 'quarantine_pending',
      comparator: '>=',
      threshold: 1,
      unit: 'messages',
      value: 1,
      would_fire: true,
      severity: 'warning',
      enabled: true,
      for_seconds: 600,
      for_seconds_honoured: false,
      unavailable_reason: null,
      message: 'quarantine_pending is 1 messages (threshold >= 1)',
      evaluated_at: expect.any(String),
      notified: false,
      recorded: false,
    })
    expect(receiver.got).toHaveLength(before)
    expect((await operator.get(`${RULES}/${id}`)).body.data.last_fired_at).toBeNull()
    const history = await operator.get(`/api/v1/platform/alerts/history?rule_id=${id}`)
    expect(history.body.data.items).toEqual([])
  })

  it('evaluates a rule without a measurable value to null and would_fire false', async () => {
    const unknown = await create({ metric: 'services_down', comparator: '>=', threshold: 0 })
    const empty = await create({ metric: 'certificates_expiring_days', comparator: '<=' })
    for (const { id } of [unknown, empty]) {
      const { data } = (await operator.post(`${RULES}/${id}/evaluate`)).body
      expect(data).toMatchObject({ value: null, would_fire: false })
      expect(data.unavailable_reason).toEqual(expect.any(String))
    }
  })
})

describe('alert metrics', () => {
  it('lists all metrics by name, with comparators, severities and channel types', async () => {
    const { body } = await operator.get('/api/v1/platform/alerts/metrics')
    expect(body.data.items.map((one: { metric: string }) => one.metric)).toEqual(
      [...METRICS].sort(),
    )
    expect(body.data).toMatchObject({
      comparators: ['>', '>=', '<', '<=', '=='],
      severities: ['critical', 'warning', 'info'],
      channel_types: ['email', 'webhook'],
    })
  })

  it('evaluates a rule on every listed metric', async () => {
    for (const metric of METRICS) {
      const { id } = await create({ metric })
      const answer = await operator.post(`${RULES}/${id}/evaluate`)
      expect(answer.status, metric).toBe(200)
    }
  })
})

describe('alert channels', () => {
  it.each([
    [{ type: 'email', target: 'nobody' }, 'target must be an email address'],
    [{ type: 'email', target: 'a@b.test, c@d.test' }, 'target must be an email address'],
    [{ type: 'email', target: 'A <a@b.test>' }, 'target must be an email address'],
    [{ target: 'ftp://a.test/' }, 'target must be an absolute http or https URL'],
    [{ target: '/hook' }, 'target must be an absolute http or https URL'],
    [
      { type: 'email', target: 'a@b.test', signing_secret: 's' },
      'signing_secret is only meaningful for type=webhook',
    ],
  ])('rejects a channel with %j', async (wrong, msg) => {
    const answer = await operator.post(CHANNELS, { ...channel(), ...wrong })
    expect(answer).toMatchObject({ status: 422, body: { msg } })
  })

  it('rejects a channel whose URL leads to a private or link-local IP address', async () => {
    for (const target of ['http://169.254.169.254/latest', 'http://10.0.0.1/', 'http://[::1]/']) {
      const answer = await operator.post(CHANNELS, { ...channel(), target })
      expect(answer, target).toMatchObject({ status: 422 })
      expect(answer.body.msg).toMatch(/SVC_OUTBOUND_ALLOW/)
    }
  })

  it('returns 404 for an unknown channel', async () => {
    const gone = { status: 404, body: { msg: 'Alert channel not found' } }
    expect(await operator.post(`${CHANNELS}/nope/test`)).toMatchObject(gone)
    expect(await operator.delete(`${CHANNELS}/nope`, { reason: 'x' })).toMatchObject(gone)
  })

  it('stores the signing secret encrypted and never returns or audits it', async () => {
    const made = await operator.post(CHANNELS, { ...channel(), signing_secret: 'hush-hush' })
    expect(made).toMatchObject({ status: 201, body: { data: { has_signing_secret: true } } })
    expect(made.text).not.toContain('hush-hush')
    expect((await operator.get(CHANNELS)).text).not.toContain('hush-hush')
    const { signing_secret } = await app.core.db
      .selectFrom('alert_channels')
      .select('signing_secret')
      .where('id', '=', made.body.data.id)
      .executeTakeFirstOrThrow()
    expect(signing_secret?.toString('latin1')).not.toContain('hush-hush')
    const audited = await app.core.db
      .selectFrom('operator_audit')
      .select('request_body')
      .where('action', '=', 'create_alert_channel')
      .execute()
    expect(JSON.stringify(audited)).not.toContain('hush-hush')
  })

  it('signs the exact body of a test notification', async () => {
    const { id } = await createChannel({ signing_secret: 'hush' })
    const answer = await operator.post(`${CHANNELS}/${id}/test`)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        type: 'success',
        msg: 'Test notification delivered',
        data: { channel_id: id, delivered: true, error: null },
      },
    })
    const got = receiver.got.at(-1)
    const digest = createHmac('sha256', 'hush')
      .update(got?.body ?? '')
      .digest('hex')
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-source': 'mailplane-alerts',
      'x-webhook-signature': `sha256=${digest}`,
    })
    expect(got?.json.attachments[0]).toMatchObject({ color: '#3d8bfd', title: 'Test notification' })
  })

  it('sends a test notification to an email channel as a message', async () => {
    const { id } = await createChannel({ type: 'email', target: 'oncall@ops.test' })
    const answer = await operator.post(`${CHANNELS}/${id}/test`)
    expect(answer.body).toMatchObject({ type: 'success', data: { delivered: true } })
    expect(sink.to('oncall@ops.test')[0]?.data).toMatch(/Subject: \[alert\] Test notification/)
  })

  it('returns and stores the error when a test notification fails', async () => {
    const { id } = await createChannel({ target: 'http://127.0.0.1:9/hook' })
    const answer = await operator.post(`${CHANNELS}/${id}/test`)
    expect(answer).toMatchObject({
      status: 200,
      body: { type: 'error', msg: 'Test notification not delivered', data: { delivered: false } },
    })
    const { items } = (await operator.get(CHANNELS)).body.data
    const listed = items.find((one: { id: string }) => one.id === id)
    expect(listed.last_used_at).toEqual(expect.any(String))
    expect(listed.last_error).toBe(answer.body.data.error)
  })

  it('returns the referencing rules when a channel is deleted; they keep its id', async () => {
    const { id } = await createChannel()
    const referencing = await create({ name: 'names it', channel_ids: [id] })
    const answer = await operator.delete(`${CHANNELS}/${id}`, { reason: 'moved' })
    expect(answer.body.data).toEqual({
      id,
      deleted: true,
      referencing_rules: [{ id: referencing.id, name: 'names it' }],
    })
    const update = { channel_ids: [id], name: 'still' }
    expect(await operator.put(`${RULES}/${referencing.id}`, update)).toMatchObject({
      status: 200,
      body: { data: { channel_ids: [id] } },
    })
  })

  it('filters channels by type and enabled', async () => {
    await createChannel({ type: 'email', target: 'off@ops.test', enabled: false })
    const { items } = (await operator.get(`${CHANNELS}?type=email&enabled=false`)).body.data
    expect(items.map((one: { target: string }) => one.target)).toEqual(['off@ops.test'])
    expect((await operator.get(`${CHANNELS}?type=pigeon`)).status).toBe(422)
  })
})

describe('alert history', () => {
  it.each(['state=open', 'severity=x', 'sort=value', 'direction=up', 'date_from=yesterday'])(
    'rejects the query %s with 422',
    async (query) => {
      const { status } = await operator.get(`/api/v1/platform/alerts/history?${query}`)
      expect(status).toBe(422)
    },
  )
})
