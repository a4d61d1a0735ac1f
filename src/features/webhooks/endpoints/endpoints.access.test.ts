import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'

const PATH = '/api/v1/webhooks/endpoints'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let platformKey: Client
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  platformKey = await app.key(null, { scope: 'platform' })
})
afterAll(() => app.stop())

const create = async (who: Client, body: object = {}): Promise<string> =>
  (await who.post(PATH, { url: 'https://hooks.test/', ...body })).body.data.id
const listed = async (who: Client, query = ''): Promise<string[]> =>
  (await who.get(`${PATH}${query}`)).body.data.items.map(({ id }: { id: string }) => id)
const everything = async () => ({
  endpoints: await app.core.db.selectFrom('webhook_endpoints').selectAll().execute(),
  events: (await app.core.db.selectFrom('events').select('id').execute()).length,
})

const uses = (who: Client, id: string) => [
  who.get(`${PATH}/${id}`),
  who.put(`${PATH}/${id}`, { url: 'https://theirs.test/', secret: 'theirs' }),
  who.delete(`${PATH}/${id}`),
  who.post(`${PATH}/${id}/test`),
]

describe('access to webhook endpoints', () => {
  it('returns 404 for the endpoint of another organization and changes nothing', async () => {
    const ids = [
      await create(acme),
      await create(acme, { active: false }),
      await create(platformKey),
      'nothing',
    ]
    const before = await everything()
    for (const id of ids) {
      for (const answer of await Promise.all(uses(globex, id))) {
        expect(answer).toMatchObject({ status: 404, body: { msg: 'Webhook endpoint not found' } })
      }
    }
    expect(await everything()).toEqual(before)
  })

  it('lists the endpoints of the tenant only, even if it names another organization', async () => {
    const own = await app.tenant('initech')
    const ids: string[] = []
    for (let made = 0; made < 3; made++) {
      ids.unshift(await create(own))
      app.clock.advance(1000)
    }
    expect(await listed(own)).toEqual(ids)
    expect(await listed(own, `?organization_id=${acme.organizationId}`)).toEqual(ids)
    expect(await listed(own, '?per_page=2&page=2')).toEqual(ids.slice(2))
    expect((await own.get(`${PATH}?per_page=2`)).body).toMatchObject({
      msg: 'Webhook endpoints retrieved',
      data: { pagination: { page: 1, per_page: 2, total: 3, total_pages: 2 } },
    })
    expect(await own.get(`${PATH}?page=0`)).toMatchObject({ status: 422 })
  })

  it('registers an endpoint for the organization of the tenant, even if it names another', async () => {
    const id = await create(globex, { organization_id: acme.organizationId })
    const { data } = (await globex.get(`${PATH}/${id}`)).body
    expect(data.organization_id).toBe(globex.organizationId)
  })

  it('lets the platform register with or without an organization, and filter its list', async () => {
    const unowned = await create(platformKey)
    const forAcme = await create(platformKey, { organization_id: acme.organizationId })
    expect((await platformKey.get(`${PATH}/${unowned}`)).body.data.organization_id).toBeNull()
    expect((await acme.get(`${PATH}/${forAcme}`)).status).toBe(200)
    expect(await listed(platformKey, '?per_page=200')).toEqual(
      expect.arrayContaining([unowned, forAcme]),
    )
    const narrow = await listed(platformKey, `?organization_id=${acme.organizationId}`)
    expect(narrow).toContain(forAcme)
    expect(narrow).not.toContain(unowned)
    expect((await platformKey.post(`${PATH}/${forAcme}/test`)).status).toBe(200)
    const { org_id } = await app.core.db
      .selectFrom('events')
      .select('org_id')
      .orderBy('sequence', 'desc')
      .executeTakeFirstOrThrow()
    expect(org_id).toBe(acme.organizationId)
  })

  it('lets a read-only key only read', async () => {
    const id = await create(acme)
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    const [read, ...writes] = await Promise.all([...uses(reader, id), reader.post(PATH, {})])
    expect(read?.status).toBe(200)
    for (const answer of writes) expect(answer.status).toBe(403)
  })

  it('keeps chosen secrets out of the audit trail', async () => {
    const operator = await app.operator('operator')
    const body = { url: 'https://hooks.test/', secret: 'never-in-the-trail' }
    expect((await operator.post(PATH, body)).status).toBe(201)
    const trail = await app.core.db.selectFrom('operator_audit').selectAll().execute()
    expect(trail.map(({ action }) => action)).toContain('create_webhook_endpoint')
    expect(JSON.stringify(trail)).not.toContain('never-in-the-trail')
  })
})
