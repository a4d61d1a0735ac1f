import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, clientOf, startApp } from '../../../test/support/app.ts'
import { HOUR_MS } from '../../lib/time.ts'

const KEYS = '/api/v1/api-keys'
const ME = '/api/v1/auth/me'

let app: App
let operator: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ env: { SVC_SELF_SERVICE_KEYS: 'true' } })
  operator = await app.operator('admin')
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const withKey = (apiKey: string) => clientOf(app, { 'x-api-key': apiKey })
const create = async (fields: object) => {
  const sent = { name: 'billing', organization_id: acme.organizationId, ...fields }
  const answer = await operator.post(`${KEYS}/`, sent)
  expect(answer.status, answer.text).toBe(201)
  const { key_id, api_key } = answer.body.data
  return { ...withKey(api_key), keyId: key_id as string, apiKey: api_key as string, answer }
}

describe('operators', () => {
  it('create, list and revoke the keys of every organization (B3.5)', async () => {
    const { answer, keyId, apiKey, ...client } = await create({ scopes: ['read'] })
    expect(answer.body.data).toMatchObject({
      organization_id: acme.organizationId,
      organization_name: 'acme',
      scope: 'organization',
      scopes: ['read'],
      status: 'active',
      expires_at: null,
      created_by: `operator:${operator.id}`,
    })
    expect((await client.get(ME)).body.data.organization.id).toBe(acme.organizationId)
    const listed = await operator.get(`${KEYS}/?organization_id=${acme.organizationId}&q=billing`)
    expect(listed.body.data.items).toMatchObject([{ key_id: keyId }])
    expect(listed.text).not.toContain(apiKey)
    const revoked = await operator.post(`${KEYS}/${keyId}/revoke`)
    expect(revoked.body.data.status).toBe('revoked')
    expect((await client.get(ME)).status).toBe(401)
    expect((await operator.post(`${KEYS}/${keyId}/revoke`)).status).toBe(200)
    expect((await operator.post(`${KEYS}/${keyId}/rotate`)).status).toBe(409)
    const events = await app.core.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('org_id', '=', acme.organizationId)
      .execute()
    expect(events).toMatchObject([
      { event: 'auth.api_key.created', data: { api_key_id: keyId, scopes: ['read'] } },
      { event: 'auth.api_key.revoked', data: { api_key_id: keyId } },
    ])
    const audit = await app.core.db.selectFrom('operator_audit').selectAll().execute()
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['create_api_key', 'revoke_api_key']),
    )
    expect(JSON.stringify(audit)).not.toContain(apiKey)
  })

  it('see and revoke platform keys, and need the role admin to write', async () => {
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    expect((await operator.get(`${KEYS}/${platform.keyId}`)).body.data.scope).toBe('platform')
    expect((await acme.get(`${KEYS}/${platform.keyId}`)).status).toBe(404)
    const low = await app.operator('operator')
    expect((await low.post(`${KEYS}/${platform.keyId}/revoke`)).status).toBe(403)
    expect((await operator.post(`${KEYS}/${platform.keyId}/revoke`)).status).toBe(200)
    expect((await platform.get(ME)).status).toBe(401)
    const nowhere = { name: 'x', organization_id: 'none' }
    expect((await operator.post(`${KEYS}/`, nowhere)).status).toBe(404)
    expect((await operator.post(`${KEYS}/`, { name: 'x' })).status).toBe(400)
  })
})

describe('the scopes of a key', () => {
  const scopeMissing = (scope: string) => ({
    status: 403,
    body: { error_code: 'SCOPE_REQUIRED', msg: `The API key needs the scope ${scope}` },
  })

  it('limit it to areas and levels', async () => {
    const key = await create({ scopes: ['domains:write', 'mailboxes:read'] })
    expect((await key.get('/api/v1/domains/')).status).toBe(200)
    const added = await key.post('/api/v1/domains/', { domain: 'scoped.test', dkim_enabled: false })
    expect(added.status).toBe(201)
    expect((await key.get('/api/v1/mailboxes/email-accounts')).status).toBe(200)
    const path = '/api/v1/mailboxes/email-accounts'
    expect(await key.post(path, {})).toMatchObject(scopeMissing('mailboxes:write'))
    expect(await key.get('/api/v1/users/')).toMatchObject(scopeMissing('users:read'))
    expect((await key.get(ME)).status).toBe(200)
  })

  it('answer with the documented messages for the whole API', async () => {
    const reader = await create({ scopes: ['read'] })
    expect((await reader.get('/api/v1/domains/')).status).toBe(200)
    expect(await reader.post('/api/v1/domains/', {})).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
    const writer = await create({})
    expect(writer.answer.body.data.scopes).toEqual(['write'])
    expect(await writer.post(`${KEYS}/`, { name: 'x' })).toMatchObject({
      status: 403,
      body: { msg: 'Admin access required' },
    })
    const unknown = { name: 'x', organization_id: acme.organizationId, scopes: ['everything'] }
    expect((await operator.post(`${KEYS}/`, unknown)).status).toBe(422)
  })

  it('and the expiry bound what a key can give to another one', async () => {
    const soon = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    const maker = await create({ scopes: ['api-keys:admin', 'domains:read'], expires_at: soon })
    const refused = { status: 403, body: { error_code: 'SCOPES_EXCEEDED' } }
    const give = (fields: object) => maker.post(`${KEYS}/`, { name: 'made', ...fields })
    expect(await give({ scopes: ['write'], expires_at: soon })).toMatchObject(refused)
    expect(await give({ scopes: ['domains:write'], expires_at: soon })).toMatchObject(refused)
    expect(await give({ scopes: ['domains:read'] })).toMatchObject(refused)
    expect((await give({ scopes: ['domains:read'], expires_at: soon })).status).toBe(201)
    const strong = await create({ scopes: ['admin'] })
    expect(await maker.post(`${KEYS}/${strong.keyId}/rotate`)).toMatchObject(refused)
  })
})

describe('a key', () => {
  it('ends at its expiry', async () => {
    const at = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    const key = await create({ expires_at: at })
    expect((await key.get(ME)).status).toBe(200)
    app.clock.advance(HOUR_MS + 1000)
    expect(await key.get(ME)).toMatchObject({ status: 401, body: { msg: 'API key expired' } })
    expect((await acme.get(`${KEYS}/${key.keyId}`)).body.data.status).toBe('expired')
    app.clock.reset()
    const past = { name: 'x', organization_id: acme.organizationId, expires_at: '2020-01-01' }
    expect((await operator.post(`${KEYS}/`, past)).status).toBe(422)
  })

  it('is rotated at once or with an overlap, and only once', async () => {
    const key = await create({ scopes: ['domains:read'] })
    const overlapping = await operator.post(`${KEYS}/${key.keyId}/rotate`, { overlap_hours: 2 })
    expect(overlapping).toMatchObject({
      status: 201,
      body: { data: { name: 'billing', scopes: ['domains:read'] } },
    })
    const second = overlapping.body.data
    expect((await key.get(ME)).status).toBe(200)
    expect((await withKey(second.api_key).get(ME)).status).toBe(200)
    app.clock.advance(2 * HOUR_MS + 1000)
    expect((await key.get(ME)).status).toBe(401)
    expect((await withKey(second.api_key).get(ME)).status).toBe(200)
    app.clock.reset()
    const both = await Promise.all(
      [1, 2].map(() => operator.post(`${KEYS}/${second.key_id}/rotate`)),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect((await withKey(second.api_key).get(ME)).status).toBe(401)
  })
})

describe('tenants', () => {
  it('manage their own keys where the installation lets them', async () => {
    const owner = await app.session('dashboard', globex.userId)
    const made = await owner.post(`${KEYS}/`, {
      name: 'own',
      scopes: ['mailboxes:write'],
      organization_id: acme.organizationId,
    })
    expect(made.body.data).toMatchObject({ organization_id: globex.organizationId })
    const listed = await owner.get(`${KEYS}/?organization_id=${acme.organizationId}`)
    expect(listed.body.data.pagination.total).toBe(2)
    for (const answer of [
      await owner.get(`${KEYS}/${acme.keyId}`),
      await owner.post(`${KEYS}/${acme.keyId}/rotate`),
      await owner.post(`${KEYS}/${acme.keyId}/revoke`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { msg: 'API key not found' } })
    }
    expect((await acme.get(ME)).status).toBe(200)
    expect((await owner.post(`${KEYS}/${made.body.data.key_id}/revoke`)).status).toBe(200)
    const { capabilities } = (await owner.get('/api/v1/capabilities/')).body.data
    expect(capabilities).toEqual(expect.arrayContaining(['api_keys', 'self_service_keys']))
  })

  it('manage no keys by default, and the manifest says so', async () => {
    const plain = await startApp({ database: app.database })
    try {
      const headers = { 'x-api-key': globex.apiKey }
      const off = { status: 403, body: { error_code: 'SELF_SERVICE_KEYS_OFF' } }
      expect(await plain.send('GET', `${KEYS}/`, { headers })).toMatchObject(off)
      const owner = clientOf(plain, {}, (await app.session('dashboard', globex.userId)).jar)
      expect(await owner.post(`${KEYS}/`, { name: 'own' })).toMatchObject(off)
      expect(await owner.post(`${KEYS}/${globex.keyId}/revoke`)).toMatchObject(off)
      const manifest = await plain.send('GET', '/api/v1/capabilities/')
      expect(manifest.body.data.capabilities).toContain('api_keys')
      expect(manifest.body.data.capabilities).not.toContain('self_service_keys')
    } finally {
      await plain.stop()
    }
  })
})
