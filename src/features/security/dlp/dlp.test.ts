import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { DAY_MS } from '../../../lib/time.ts'

const POLICIES = '/api/v1/security/dlp/policies'
const VIOLATIONS = '/api/v1/security/dlp/violations'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  admin = await app.operator('admin')
  operator = await app.operator('operator')
})
afterAll(() => app.stop())

let made = 0
const policy = (more: object = {}) => ({
  organization_id: acme.organizationId,
  name: `Policy ${++made}`,
  patterns: ['confidential'],
  reason: 'audit',
  ...more,
})
const create = async (more: object = {}) => {
  const answer = await admin.post(POLICIES, policy(more))
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}

describe('DLP policy', () => {
  it.each<[string, object, string]>([
    ['no organization', { organization_id: undefined }, 'Is required'],
    ['no reason', { reason: undefined }, 'Is required'],
    ['an empty reason', { reason: '' }, 'Must not be empty'],
    ['no patterns', { patterns: [] }, 'patterns must be a non-empty array'],
    ['patterns that are not a list', { patterns: 'confidential' }, 'list'],
    ['an empty pattern', { patterns: [' '] }, 'Must not be empty'],
    ['too many patterns', { patterns: Array(201).fill('x') }, 'at most 200'],
    ['an unknown type', { policy_type: 'magic' }, 'one of pii, keyword, regex, file_type'],
    ['an unknown action', { action: 'shred' }, 'one of block'],
    ['an unknown severity', { severity: 'awful' }, 'one of low'],
    ['an unknown direction', { apply_to: 'sideways' }, 'one of inbound'],
    ['a long name', { name: 'x'.repeat(256) }, 'at most 255'],
    ['a broken expression', { policy_type: 'regex', patterns: ['(?<=a)b('] }, 'RE2'],
    [
      'an expression that matches every message',
      { policy_type: 'regex', patterns: ['a*'] },
      'every message',
    ],
    [
      'an unknown kind of personal data',
      { policy_type: 'pii', patterns: ['shoe_size'] },
      'one of credit_card, iban',
    ],
    ['an invalid file type', { policy_type: 'file_type', patterns: ['*.exe/'] }, 'extension'],
  ])('is rejected with 422 for %s', async (_, more, msg) => {
    const answer = await admin.post(POLICIES, policy(more))
    expect(answer.status, answer.text).toBe(422)
    expect(answer.body.detail[0].msg).toContain(msg)
  })

  it('requires an existing organization and a name that is unique in it', async () => {
    expect(await admin.post(POLICIES, policy({ organization_id: 'nobody' }))).toMatchObject({
      status: 404,
      body: { msg: 'Organization not found' },
    })
    const { name } = await create()
    const again = await admin.post(POLICIES, policy({ name }))
    expect(again).toMatchObject({
      status: 409,
      body: { msg: 'A DLP policy with that name already exists for this organization' },
    })
    await create({ name, organization_id: globex.organizationId })
    const { id } = await create()
    const renamed = await admin.put(`${POLICIES}/${id}`, { name, reason: 'x' })
    expect(renamed.status).toBe(409)
  })

  it('is created with defaults and writes its reason to the audit log', async () => {
    const created = await create({ name: 'Defaults', reason: 'a new law' })
    expect(created).toEqual({
      id: expect.any(Number),
      organization_id: acme.organizationId,
      organization_name: 'acme',
      name: 'Defaults',
      description: null,
      policy_type: 'keyword',
      patterns: ['confidential'],
      action: 'notify',
      severity: 'medium',
      enabled: true,
      apply_to: 'outbound',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const row = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('action', '=', 'create_dlp_policy')
      // Rows of refused requests of earlier tests may be written after this one.
      .where('result', '=', 'success')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    expect(row.request_body).toMatchObject({ reason: 'a new law' })
  })

  it('is changed field by field and validated as a whole', async () => {
    const { id } = await create({ description: 'first' })
    const put = (body: object) => admin.put(`${POLICIES}/${id}`, { reason: 'x', ...body })
    expect(await put({})).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
    expect((await admin.put(`${POLICIES}/${id}`, { enabled: false })).status).toBe(422)
    expect((await put({ policy_type: 'pii' })).text).toContain('Must be one of credit_card')
    const answer = await put({ policy_type: 'pii', patterns: ['iban'], action: 'block' })
    expect(answer.body).toMatchObject({
      msg: 'DLP policy updated',
      data: { policy_type: 'pii', patterns: ['iban'], action: 'block', description: 'first' },
    })
    expect((await put({ description: null })).body.data.description).toBeNull()
    const missing = await admin.put(`${POLICIES}/999999`, { reason: 'x', enabled: false })
    expect(missing).toMatchObject({ status: 404, body: { msg: 'DLP policy not found' } })
    expect((await admin.put(`${POLICIES}/01JZZZ`, { reason: 'x', enabled: false })).status).toBe(
      422,
    )
  })

  it('keeps its violations when it is deleted', async () => {
    const { id, name } = await create()
    await violation({ policy_id: id })
    const listed = await operator.get(`${VIOLATIONS}?policy_id=${id}`)
    expect(listed.body.data.items).toMatchObject([{ policy_name: name, policy_type: 'keyword' }])
    expect((await admin.delete(`${POLICIES}/${id}`, {})).status).toBe(422)
    const deleted = await admin.delete(`${POLICIES}/${id}`, { reason: 'over' })
    expect(deleted.body).toEqual({
      type: 'success',
      msg: 'DLP policy deleted',
      data: { id, organization_id: acme.organizationId, violations_retained: 1 },
    })
    expect((await admin.delete(`${POLICIES}/${id}`, { reason: 'over' })).status).toBe(404)
    const after = await operator.get(`${VIOLATIONS}?policy_id=${id}`)
    expect(after.body.data.items).toMatchObject([
      { policy_id: id, policy_name: null, policy_type: null },
    ])
  })

  it('is listed by filters and in the requested order', async () => {
    const of = { organization_id: (await app.tenant('listed')).organizationId }
    await create({ ...of, name: 'alpha', severity: 'critical', apply_to: 'both' })
    await create({ ...of, name: 'beta', severity: 'low', enabled: false, description: '100%' })
    await create({ ...of, name: 'gamma', severity: 'high', policy_type: 'regex' })
    const names = async (query: string) => {
      const answer = await operator.get(
        `${POLICIES}?organization_id=${of.organization_id}&${query}`,
      )
      return answer.body.data.items.map(({ name }: { name: string }) => name)
    }
    expect(await names('')).toEqual(['gamma', 'beta', 'alpha'])
    expect(await names('sort_by=name&sort_dir=asc')).toEqual(['alpha', 'beta', 'gamma'])
    expect(await names('sort_by=severity')).toEqual(['alpha', 'gamma', 'beta'])
    expect(await names('enabled=false')).toEqual(['beta'])
    expect(await names('q=100%25')).toEqual(['beta'])
    expect(await names('policy_type=regex')).toEqual(['gamma'])
    expect(await names('apply_to=both&severity=critical')).toEqual(['alpha'])
    expect(await names('colour=red')).toHaveLength(3)
    const refused = await operator.get(`${POLICIES}?sort_by=patterns`)
    expect(refused).toMatchObject({
      status: 422,
      body: { msg: expect.stringContaining('sort_by must be one of') },
    })
    expect((await operator.get(`${POLICIES}?severity=awful`)).body.msg).toContain(
      'severity must be one of',
    )
  })

  it('can be read by operators and changed by admins only', async () => {
    const support = await app.operator('support')
    for (const path of [POLICIES, VIOLATIONS, `${VIOLATIONS}/summary`, `${VIOLATIONS}/1`]) {
      expect((await support.get(path)).body.msg).toBe('Insufficient operator role')
      expect((await acme.get(path)).body.msg).toBe('Platform scope required')
    }
    expect((await operator.post(POLICIES, policy())).body.msg).toBe('Insufficient operator role')
  })
})

const violation = async (more: object = {}) =>
  app.core.db
    .insertInto('dlp_violations')
    .values({
      organization_id: acme.organizationId,
      policy_id: 1,
      sender: 'ann@acme.test',
      recipient: 'bob@x.test',
      violation_type: 'credit_card',
      action_taken: 'block',
      severity: 'high',
      has_match: true,
      matched_pattern: 'HIDDEN PATTERN',
      details: { where: 'HIDDEN PLACE' },
      created_at: app.clock.now().toISOString(),
      ...more,
    })
    .returning('id')
    .executeTakeFirstOrThrow()

describe('DLP violation', () => {
  it('never returns the matched text or the pattern', async () => {
    const { id } = await violation({ message_id: '<one@acme.test>' })
    const one = await operator.get(`${VIOLATIONS}/${id}`)
    expect(one.body.data).toEqual({
      id,
      organization_id: acme.organizationId,
      organization_name: 'acme',
      policy_id: 1,
      policy_name: expect.any(String),
      policy_type: 'keyword',
      message_id: '<one@acme.test>',
      sender: 'ann@acme.test',
      recipient: 'bob@x.test',
      violation_type: 'credit_card',
      action_taken: 'block',
      severity: 'high',
      has_match: true,
      matched_pattern: null,
      details: null,
      redacted: true,
      created_at: expect.any(String),
    })
    const list = await operator.get(VIOLATIONS)
    for (const { text } of [one, list]) expect(text).not.toContain('HIDDEN')
    expect(list.body.data.items).toContainEqual(one.body.data)
    expect(await operator.get(`${VIOLATIONS}/999999`)).toMatchObject({
      status: 404,
      body: { msg: 'DLP violation not found' },
    })
    expect((await operator.get(`${VIOLATIONS}/abc`)).status).toBe(422)
  })

  it('is listed by filters, dates and parts of e-mail addresses', async () => {
    const { organizationId: organization_id } = await app.tenant('filtered')
    await violation({
      organization_id,
      sender: 'a@f.test',
      severity: 'low',
      created_at: '2024-01-10T23:30:00Z',
    })
    await violation({
      organization_id,
      sender: 'b@f.test',
      action_taken: 'notify',
      created_at: '2024-01-11T00:00:00Z',
    })
    await violation({
      organization_id,
      sender: 'c@f.test',
      violation_type: 'iban',
      recipient: 'Zoe@y.test',
      created_at: '2024-01-12T00:00:00Z',
    })
    const senders = async (query: string) => {
      const answer = await operator.get(`${VIOLATIONS}?organization_id=${organization_id}&${query}`)
      expect(answer.status, answer.text).toBe(200)
      return answer.body.data.items.map(({ sender }: { sender: string }) => sender[0]).join('')
    }
    expect(await senders('')).toBe('cba')
    expect(await senders('sort_by=sender&sort_dir=asc')).toBe('abc')
    expect(await senders('sort_by=severity&sort_dir=asc')).toBe('acb')
    expect(await senders('date_to=2024-01-10')).toBe('a')
    expect(await senders('date_from=2024-01-11&date_to=2024-01-11')).toBe('b')
    expect(await senders('q=zoe')).toBe('c')
    expect(await senders('violation_type=iban')).toBe('c')
    expect(await senders('action_taken=notify')).toBe('b')
    // B7.5: a word that no violation can have was answered with an empty list.
    for (const name of ['severity', 'action_taken']) {
      expect(await operator.get(`${VIOLATIONS}?${name}=nonsense`)).toMatchObject({
        status: 422,
        body: { msg: expect.stringContaining(`${name} must be one of`) },
      })
    }
    expect(await operator.get(`${VIOLATIONS}?date_from=soon`)).toMatchObject({
      status: 422,
      body: { msg: 'date_from/date_to must be ISO dates or datetimes' },
    })
    expect((await operator.get(`${VIOLATIONS}?sort_by=details`)).status).toBe(422)
  })

  it('is counted by severity, policy, action and day, including days without violations', async () => {
    const { organizationId: organization_id } = await app.tenant('counted')
    const { id } = await create({ organization_id, name: 'Counted' })
    const daysAgo = (days: number) =>
      new Date(app.clock.now().getTime() - days * DAY_MS).toISOString()
    await violation({ organization_id, policy_id: id })
    await violation({ organization_id, policy_id: id, severity: 'low', created_at: daysAgo(2) })
    await violation({
      organization_id,
      policy_id: 99999,
      action_taken: 'log_only',
      created_at: daysAgo(2),
    })
    await violation({ organization_id, policy_id: id, created_at: daysAgo(40) })
    const { body } = await operator.get(
      `${VIOLATIONS}/summary?organization_id=${organization_id}&days=3`,
    )
    expect(body).toEqual({
      type: 'success',
      msg: 'DLP violation summary retrieved',
      data: {
        total: 4,
        days: 3,
        by_severity: [
          { severity: 'high', count: 2 },
          { severity: 'low', count: 1 },
        ],
        by_policy: [
          { policy_id: id, policy_name: 'Counted', count: 2 },
          { policy_id: 99999, policy_name: null, count: 1 },
        ],
        by_action_taken: [
          { action_taken: 'block', count: 2 },
          { action_taken: 'log_only', count: 1 },
        ],
        series: [
          { date: daysAgo(2).slice(0, 10), count: 2 },
          { date: daysAgo(1).slice(0, 10), count: 0 },
          { date: daysAgo(0).slice(0, 10), count: 1 },
        ],
      },
    })
    const month = await operator.get(`${VIOLATIONS}/summary?organization_id=nobody`)
    expect(month.body.data).toMatchObject({ total: 0, days: 30, by_policy: [] })
    expect(month.body.data.series).toHaveLength(30)
    for (const days of [0, 366, 'x']) {
      expect((await operator.get(`${VIOLATIONS}/summary?days=${days}`)).status).toBe(422)
    }
  })
})
