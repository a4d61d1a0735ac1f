import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'

const PATH = '/api/v1/webhooks/dead-letters'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let support: Awaited<ReturnType<App['operator']>>
let platformKey: Client
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  support = await app.operator('support')
  platformKey = await app.key(null, { scope: 'platform' })
})
afterAll(() => app.stop())

const envelope = (id: string) => ({
  id,
  event: 'domain.added',
  timestamp: '2026-05-01T10:00:00.123456+00:00',
  source: 'api',
  org_id: 'somebody',
  domain: 'acme.test',
  tags: [],
  user_variables: {},
  data: { domain: 'acme.test' },
  metadata: {},
})

let letters = 0
const bury = async (organization_id: string | null, more: object = {}): Promise<number> => {
  const event_id = `gone-${letters++}`
  const { id } = await app.core.db
    .insertInto('webhook_dead_letters')
    .values({
      event_id,
      organization_id,
      event_type: 'domain.added',
      endpoint_url: 'https://hooks.host.test/',
      last_error: 'Failed after 8 attempts: Timeout',
      attempt_count: 8,
      payload: envelope(event_id),
      ...more,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
const ids = async (who: Client, query = ''): Promise<number[]> => {
  const answer = await who.get(`${PATH}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Dead letter queue retrieved' } })
  return answer.body.data.items.map(({ id }: { id: number }) => id)
}

describe('the list of dead letters', () => {
  it.each([
    ['status=delivered', 'status must be one of pending, retrying, resolved, abandoned'],
    ['per_page=x', 'per_page must be a whole number'],
  ])('rejects the filter %s', async (query, msg) => {
    expect(await acme.get(`${PATH}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it('lists newest first, filtered, in pages, without the envelopes', async () => {
    const one = await bury(acme.organizationId)
    const two = await bury(acme.organizationId, { status: 'resolved' })
    const three = await bury(acme.organizationId, { event_type: 'org.created' })
    expect(await ids(acme)).toEqual([three, two, one])
    expect(await ids(acme, 'status=PENDING')).toEqual([three, one])
    expect(await ids(acme, 'event_type=org.created')).toEqual([three])
    expect(await ids(acme, 'status=pending&event_type=domain.added')).toEqual([one])
    expect(await ids(acme, 'per_page=2&page=2')).toEqual([one])
    const { items, pagination } = (await acme.get(`${PATH}?per_page=1&page=3`)).body.data
    expect(pagination).toEqual({ page: 3, per_page: 1, total: 3, total_pages: 3 })
    expect(items).toEqual([
      {
        id: one,
        organization_id: acme.organizationId,
        event_type: 'domain.added',
        endpoint_id: null,
        endpoint_url: 'the webhook URL of the platform',
        last_error: 'Gave up after 8 attempts',
        attempt_count: 8,
        status: 'pending',
        created_at: expect.any(String),
        last_attempted_at: null,
        resolved_at: null,
      },
    ])
  })

  it('shows a tenant its own letters only, even if it names another organization; the platform sees all', async () => {
    const unowned = await bury(null)
    const theirs = await bury(globex.organizationId)
    expect(await ids(globex)).toEqual([theirs])
    expect(await ids(globex, `organization_id=${acme.organizationId}`)).toEqual([theirs])
    expect((await ids(platformKey)).slice(0, 2)).toEqual([theirs, unowned])
    expect(await ids(platformKey, `organization_id=${globex.organizationId}`)).toEqual([theirs])
  })
})

describe('a dead letter', () => {
  it.each(['999999999', 'nothing', '-1', '1.5', '99999999999999999999', 'replay'])(
    'is not found under %s',
    async (id) => {
      expect(await support.get(`${PATH}/${id}`)).toMatchObject({
        status: 404,
        body: { msg: 'Dead letter not found' },
      })
    },
  )

  it('shows a dead letter to operators only, not to its tenant', async () => {
    const id = await bury(acme.organizationId)
    for (const who of [acme, await app.dashboard(acme.email), platformKey]) {
      expect([401, 403]).toContain((await who.get(`${PATH}/${id}`)).status)
    }
    expect((await support.get(`${PATH}/${id}`)).status).toBe(200)
  })

  it('shows a tenant the dead letters of its own endpoints with the envelope, and no others', async () => {
    const id = await bury(acme.organizationId, {
      endpoint_id: 'own',
      endpoint_url: 'https://hooks.acme.test/',
    })
    for (const who of [acme, await app.dashboard(acme.email), platformKey, support]) {
      const { status, body } = await who.get(`${PATH}/${id}/mine`)
      expect(status).toBe(200)
      expect(body.data).toMatchObject({ id, endpoint_url: 'https://hooks.acme.test/' })
      expect(body.data.payload).toEqual(envelope(body.data.payload.id))
    }
    for (const other of [id, await bury(null)]) {
      expect(await globex.get(`${PATH}/${other}/mine`)).toMatchObject({
        status: 404,
        body: { msg: 'Dead letter not found' },
      })
    }
  })

  it('hides from a tenant what was sent to the global URL', async () => {
    const id = await bury(acme.organizationId)
    expect((await acme.get(`${PATH}/${id}/mine`)).body.data).toMatchObject({
      endpoint_url: 'the webhook URL of the platform',
      last_error: 'Gave up after 8 attempts',
      payload: null,
      replayable: false,
    })
  })

  it('returns the envelope and whether it can be replayed', async () => {
    const id = await bury(acme.organizationId)
    const { body } = await support.get(`${PATH}/${id}`)
    expect(body.msg).toBe('Dead letter retrieved')
    expect(body.data).toMatchObject({ id, replayable: true, status: 'pending' })
    expect(body.data.payload).toEqual(envelope(body.data.payload.id))
    expect(body.data).not.toHaveProperty('payload_error')
  })

  it.each(['resolved', 'abandoned'])(
    'marks a letter that is %s as not replayable',
    async (status) => {
      const id = await bury(acme.organizationId, { status })
      const { data } = (await support.get(`${PATH}/${id}`)).body
      expect(data).toMatchObject({ status, replayable: false })
      expect(data).not.toHaveProperty('payload_error')
    },
  )

  it.each([
    [{ _truncated: true, _original_bytes: 2_000_000, id: 'x' }, 'was truncated'],
    [{ hello: 'there' }, 'is no envelope'],
    [{ ...envelope('x'), timestamp: 'soon' }, 'is no envelope'],
    [{ ...envelope('x'), data: [] }, 'is no envelope'],
  ])('explains what is wrong with the payload %j', async (payload, problem) => {
    const id = await bury(null, { payload })
    expect((await support.get(`${PATH}/${id}`)).body.data).toMatchObject({
      payload,
      replayable: false,
      payload_error: expect.stringContaining(problem),
    })
  })
})
