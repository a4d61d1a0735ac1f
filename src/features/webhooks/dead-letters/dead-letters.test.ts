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
  ])('refuses %s', async (query, msg) => {
    expect(await acme.get(`${PATH}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it('is newest first, filtered, in pages, without the envelopes', async () => {
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
        endpoint_url: 'https://hooks.host.test/',
        last_error: 'Failed after 8 attempts: Timeout',
        attempt_count: 8,
        status: 'pending',
        created_at: expect.any(String),
        last_attempted_at: null,
        resolved_at: null,
      },
    ])
  })

  it("holds a tenant's own, whatever organization it names; the platform sees all", async () => {
    const nobodys = await bury(null)
    const theirs = await bury(globex.organizationId)
    expect(await ids(globex)).toEqual([theirs])
    expect(await ids(globex, `organization_id=${acme.organizationId}`)).toEqual([theirs])
    expect((await ids(platformKey)).slice(0, 2)).toEqual([theirs, nobodys])
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

  it('is shown to operators only, not to its tenant', async () => {
    const id = await bury(acme.organizationId)
    for (const who of [acme, await app.dashboard(acme.email), platformKey]) {
      expect([401, 403]).toContain((await who.get(`${PATH}/${id}`)).status)
    }
    expect((await support.get(`${PATH}/${id}`)).status).toBe(200)
  })

  it('comes with its envelope and whether it can be replayed', async () => {
    const id = await bury(acme.organizationId)
    const { body } = await support.get(`${PATH}/${id}`)
    expect(body.msg).toBe('Dead letter retrieved')
    expect(body.data).toMatchObject({ id, replayable: true, status: 'pending' })
    expect(body.data.payload).toEqual(envelope(body.data.payload.id))
    expect(body.data).not.toHaveProperty('payload_error')
  })

  it.each(['resolved', 'abandoned'])('that is %s cannot be replayed', async (status) => {
    const id = await bury(acme.organizationId, { status })
    const { data } = (await support.get(`${PATH}/${id}`)).body
    expect(data).toMatchObject({ status, replayable: false })
    expect(data).not.toHaveProperty('payload_error')
  })

  it.each([
    [{ _truncated: true, _original_bytes: 2_000_000, id: 'x' }, 'was truncated'],
    [{ hello: 'there' }, 'is no envelope'],
    [{ ...envelope('x'), timestamp: 'soon' }, 'is no envelope'],
    [{ ...envelope('x'), data: [] }, 'is no envelope'],
  ])('with the payload %j says what is wrong with it', async (payload, problem) => {
    const id = await bury(null, { payload })
    expect((await support.get(`${PATH}/${id}`)).body.data).toMatchObject({
      payload,
      replayable: false,
      payload_error: expect.stringContaining(problem),
    })
  })
})
