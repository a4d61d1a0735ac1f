import { createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../../test/support/app-with-dns.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { deleteRetiredKeys } from './dkim.jobs.ts'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns({ SVC_DNS_TIMEOUT: '10' }))
  acme = await app.tenant('acme')
  operator = await app.operator('operator')
})
afterAll(() => stop())

const create = async (domain: string) => (await acme.post('/api/v1/domains/', { domain })).body.data
const reason = { reason: 'yearly rotation' }

it('creates an RSA-2048 key with the domain and never returns its private half', async () => {
  const created = await create('keys.test')
  const listed = await operator.get(`/api/v1/domains/${created.id}/dkim`)
  expect(listed.body.data).toMatchObject({
    domain: 'keys.test',
    signing_selector: 'default',
    total: 1,
    items: [
      { selector: 'default', active: true, algorithm: 'rsa', key_size: 2048, record_type: 'TXT' },
    ],
  })
  const der = Buffer.from(created.dkim_record.split('p=')[1], 'base64')
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048)
  const row = await app.core.db
    .selectFrom('dkim_keys')
    .selectAll()
    .where('domain_id', '=', created.id)
    .executeTakeFirstOrThrow()
  expect(row.private_key.toString('latin1')).not.toContain('PRIVATE KEY')
  expect(`${created.text}${listed.text}`).not.toContain('private')
})

it('rotates without changing the signing key, and activates only a visible record', async () => {
  const { id } = await create('rotate.test')
  const rotated = await operator.post(`/api/v1/domains/${id}/dkim/rotate`, reason)
  expect(rotated).toMatchObject({
    status: 201,
    body: { data: { active: false, previous_active_selectors: ['default'], rspamd_synced: false } },
  })
  const { selector, record_name, record_value, activate_url } = rotated.body.data
  expect(selector).toMatch(/^svc\d{14}$/)
  expect((await acme.get(`/api/v1/domains/${id}`)).body.data.dkim_selector).toBe('default')

  const early = await operator.post(activate_url, reason)
  expect(early).toMatchObject({ status: 409, body: { error_code: 'DKIM_RECORD_NOT_VISIBLE' } })
  dns.state.records[record_name] = { TXT: [record_value] }
  const activated = await operator.post(activate_url, reason)
  expect(activated).toMatchObject({
    status: 200,
    body: {
      msg: `DKIM signing selector set to '${selector}'`,
      data: { active_selector: selector, deactivated_selectors: ['default'] },
    },
  })
  expect((await acme.get(`/api/v1/domains/${id}`)).body.data).toMatchObject({
    dkim_selector: selector,
    dkim_record: record_value,
  })
  const events = await app.core.db
    .selectFrom('events')
    .selectAll()
    .where('event', '=', 'encryption.key.generated')
    .execute()
  expect(events).toMatchObject([{ data: { domain_id: id, selector, kind: 'dkim' } }])
})

it('activates an invisible record with force, and gives two rotations in one second two selectors', async () => {
  const { id } = await create('forced.test')
  const rotations = await Promise.all(
    [1, 2].map(() => operator.post(`/api/v1/domains/${id}/dkim/rotate`, reason)),
  )
  const selectors = rotations.map(({ body }) => body.data.selector)
  expect(new Set(selectors).size).toBe(2)
  const forced = await operator.post(`/api/v1/domains/${id}/dkim/${selectors[0]}/activate`, {
    ...reason,
    force: true,
  })
  expect(forced.status).toBe(200)
  const active = await app.core.db
    .selectFrom('dkim_keys')
    .selectAll()
    .where('domain_id', '=', id)
    .where('active', '=', true)
    .execute()
  expect(active).toHaveLength(1)
})

it('deletes a retired DKIM key after two weeks and not earlier', async () => {
  const { id } = await create('retired.test')
  const { selector } = (await operator.post(`/api/v1/domains/${id}/dkim/rotate`, reason)).body.data
  await operator.post(`/api/v1/domains/${id}/dkim/${selector}/activate`, { ...reason, force: true })
  const selectors = async () => {
    await deleteRetiredKeys.run(app.core)
    const rows = await app.core.db
      .selectFrom('dkim_keys')
      .select('selector')
      .where('domain_id', '=', id)
      .execute()
    return rows.map((row) => row.selector).sort()
  }
  expect(await selectors()).toEqual(['default', selector])
  app.clock.advance(15 * DAY_MS)
  expect(await selectors()).toEqual([selector])
  app.clock.advance(-15 * DAY_MS)
})

it('names the missing reason, domain or DKIM selector', async () => {
  const { id } = await create('missing.test')
  expect((await operator.post(`/api/v1/domains/${id}/dkim/rotate`, {})).status).toBe(422)
  expect(await operator.post('/api/v1/domains/nope/dkim/rotate', reason)).toMatchObject({
    status: 404,
    body: { msg: 'Domain not found' },
  })
  expect(await operator.post(`/api/v1/domains/${id}/dkim/nope/activate`, reason)).toMatchObject({
    status: 404,
    body: { msg: "No DKIM key with selector 'nope' on this domain" },
  })
})

it('creates a key when DKIM is turned on for a domain without one (B3.1)', async () => {
  const path = '/api/v1/domains'
  const { id } = (await acme.post(`${path}/`, { domain: 'later.test', dkim_enabled: false })).body
    .data
  const records = async () => (await acme.get(`${path}/${id}`)).body.data.dns_records
  const hasKey = (list: { name: string }[]) =>
    list.some(({ name }) => name === 'default._domainkey.later.test')
  expect(hasKey(await records())).toBe(false)
  const both = await Promise.all(
    [1, 2].map(() => acme.put(`${path}/${id}`, { dkim_enabled: true })),
  )
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  const before = await records()
  expect(hasKey(before)).toBe(true)
  await acme.put(`${path}/${id}`, { dkim_enabled: false })
  await acme.put(`${path}/${id}`, { dkim_enabled: true })
  expect(await records()).toEqual(before)
  const made = await app.core.db
    .selectFrom('events')
    .select('data')
    .where('event', '=', 'encryption.key.generated')
    .execute()
  expect(made.filter(({ data }) => (data as { domain_id: string }).domain_id === id)).toHaveLength(
    1,
  )
})
