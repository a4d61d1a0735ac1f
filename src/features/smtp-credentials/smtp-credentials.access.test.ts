import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/smtp-credentials/'
const CHOSEN = 'correct-horse-battery-9'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let platformKey: Client
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  platformKey = await app.key(acme.organizationId, { scope: 'platform', organizationId: null })
})
afterAll(() => app.stop())

const create = async (body: object = {}) =>
  (await acme.post(PATH, { domain_id: acme.domainId, ...body })).body.data

const everyMutation = (who: Client, id: string) => [
  who.patch(`${PATH}${id}`, { name: 'theirs' }),
  who.post(`${PATH}${id}/rotate`),
  who.post(`${PATH}${id}/revoke`),
  who.post(`${PATH}${id}/enable`),
]

describe('access to SMTP credentials', () => {
  it("returns 404, never 403, for another organization's credential, and changes nothing", async () => {
    const { id } = await create()
    const before = (await acme.get(`${PATH}${id}`)).body.data
    const answers = await Promise.all([
      globex.get(`${PATH}${id}`),
      globex.get(`${PATH}${id}/events`),
      globex.get(`${PATH}${id}/usage`),
      ...everyMutation(globex, id),
    ])
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, body: { msg: 'SMTP credential not found' } })
    }
    expect(await globex.delete(`${PATH}${id}`)).toMatchObject({
      status: 200,
      body: { msg: 'SMTP credential already absent', data: { cache_flushed: false } },
    })
    expect((await acme.get(`${PATH}${id}`)).body.data).toEqual(before)
    const { events } = (await acme.get(`${PATH}${id}/events`)).body.data
    expect(events).toHaveLength(1)
  })

  it("lists only a tenant's own credentials, for any organization or domain filter", async () => {
    const { id } = await create()
    for (const query of [
      '',
      `?organization_id=${acme.organizationId}`,
      `?domain_id=${acme.domainId}`,
    ]) {
      const { body } = await globex.get(`${PATH}${query}`)
      expect(body.data).toEqual({ credentials: [], total: 0 })
    }
    const own = await acme.get(`${PATH}?organization_id=${globex.organizationId}`)
    expect(own.body.data.credentials.map((row: { id: string }) => row.id)).toContain(id)
  })

  it('allows a read-only key to read and rejects every write', async () => {
    const { id } = await create()
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    for (const path of ['', id, `${id}/events`, `${id}/usage`]) {
      expect((await reader.get(`${PATH}${path}`)).status).toBe(200)
    }
    const refused = await Promise.all([
      reader.post(PATH, { domain_id: acme.domainId }),
      reader.post(PATH, { domain_id: 7 }),
      reader.delete(`${PATH}${id}`),
      ...everyMutation(reader, id),
    ])
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { msg: 'Write access required' } })
    }
    expect((await acme.get(`${PATH}${id}`)).body.data).toMatchObject({ active: true, name: null })
  })

  it('rejects callers without an API key or session', async () => {
    expect(await app.send('GET', PATH)).toMatchObject({
      status: 401,
      body: { msg: 'API key required' },
    })
  })

  it('records the dashboard user as the creator', async () => {
    const user = await app.dashboard(acme.email)
    const created = await user.post(PATH, { domain_id: acme.domainId })
    expect(created).toMatchObject({
      status: 201,
      body: { data: { created_by: `user:${acme.email}` } },
    })
    const { id } = created.body.data
    const trail = await user.get(`${PATH}${id}/events`)
    expect(trail.body.data.events).toMatchObject([
      { event: 'created', actor: `user:${acme.email}`, source_ip: '127.0.0.1', detail: null },
    ])
    const forged = await user.post(
      PATH,
      { domain_id: acme.domainId },
      {
        headers: { 'x-csrf-token': 'another' },
      },
    )
    expect(forged).toMatchObject({ status: 403, body: { msg: 'CSRF token missing or invalid' } })
  })

  it('allows a platform key to list every organization or filter by one', async () => {
    const created = await platformKey.post(PATH, { domain_id: globex.domainId })
    expect(created).toMatchObject({
      status: 201,
      body: {
        data: { organization_id: globex.organizationId, created_by: 'platform-api-key' },
      },
    })
    const { id } = created.body.data
    await create()
    const everybody = await platformKey.get(PATH)
    expect(everybody.body.data.total).toBeGreaterThan(1)
    const narrowed = await platformKey.get(`${PATH}?organization_id=${globex.organizationId}`)
    expect(narrowed.body.data).toMatchObject({ credentials: [{ id }], total: 1 })
    expect((await globex.get(PATH)).body.data).toEqual(narrowed.body.data)
  })

  it('allows an operator to revoke and a support operator only to read', async () => {
    const { id } = await create()
    const support = await app.operator('support')
    expect((await support.get(`${PATH}${id}`)).status).toBe(200)
    expect(await support.post(`${PATH}${id}/revoke`)).toMatchObject({
      status: 403,
      body: { msg: 'Insufficient operator role' },
    })
    const operator = await app.operator('operator')
    expect((await operator.post(`${PATH}${id}/revoke`)).body.data.active).toBe(false)
    const trail = await acme.get(`${PATH}${id}/events`)
    expect(trail.body.data.events[0]).toMatchObject({
      event: 'revoked',
      actor: `operator:${operator.id}`,
    })
  })

  it('redirects the collection URL without a slash, and is advertised as a capability', async () => {
    const bare = await acme.post(PATH.slice(0, -1), { domain_id: acme.domainId })
    expect(bare).toMatchObject({ status: 307, headers: { location: PATH } })
    const manifest = await app.send('GET', '/api/v1/capabilities/')
    expect(manifest.body.capabilities).toContain('smtp_credentials')
  })
})

describe('the list of SMTP credentials', () => {
  it('is sorted newest first, with limit, offset and total', async () => {
    const hooli = await app.tenant('hooli')
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const { body } = await hooli.post(PATH, { domain_id: hooli.domainId, name })
      ids.unshift(body.data.id)
    }
    const idsOf = async (query: string) => {
      const { body } = await hooli.get(`${PATH}?${query}`)
      expect(body).toMatchObject({
        msg: 'SMTP credentials retrieved successfully',
        data: { total: 3 },
      })
      return body.data.credentials.map((row: { id: string }) => row.id)
    }
    expect(await idsOf('')).toEqual(ids)
    expect(await idsOf('limit=2')).toEqual(ids.slice(0, 2))
    expect(await idsOf('limit=2&offset=2')).toEqual(ids.slice(2))
    expect(await idsOf(`domain_id=${hooli.domainId}&limit=501`)).toEqual(ids)
    expect(await idsOf('offset=99999999999999999999')).toEqual([])
    const elsewhere = await hooli.get(`${PATH}?domain_id=nowhere`)
    expect(elsewhere.body.data).toEqual({ credentials: [], total: 0 })
  })

  it.each([['limit=0'], ['limit=-1'], ['limit=ten'], ['limit='], ['offset=-1'], ['offset=x']])(
    'rejects %s',
    async (query) => {
      expect(await acme.get(`${PATH}?${query}`)).toMatchObject({
        status: 422,
        body: { type: 'error', detail: [{ loc: ['query', query.split('=')[0]] }] },
      })
    },
  )
})

describe('secrets of SMTP credentials', () => {
  it('appear in no list, log, audit row or trail', async () => {
    const operator = await app.operator('operator')
    const made = await operator.post(PATH, { domain_id: acme.domainId })
    await operator.post(PATH, { domain_id: acme.domainId, password: CHOSEN })
    const rotated = await operator.post(`${PATH}${made.body.data.id}/rotate`)
    const secrets = [made.body.data.secret, rotated.body.data.secret, CHOSEN]
    const audit = await app.core.db.selectFrom('operator_audit').selectAll().execute()
    expect(audit.map(({ action }) => action)).toContain('create_smtp_credential')
    const trail = await app.core.db.selectFrom('smtp_credential_events').selectAll().execute()
    const listed = await operator.get(PATH)
    const logs = readdirSync(app.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.log'))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    expect(logs.join()).toContain('/api/v1/smtp-credentials/')
    const everything = [JSON.stringify(audit), JSON.stringify(trail), listed.text, ...logs].join()
    for (const secret of secrets) expect(everything).not.toContain(secret)
    expect(everything).not.toContain('$2b$')
  })
})
