import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../../test/support/app-with-dns.ts'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['key']>>
let globex: Awaited<ReturnType<App['key']>>
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns())
  acme = await app.tenant('acme')
  admin = await adminOf(acme)
  globex = await adminOf(await app.tenant('globex'))
})
afterAll(() => stop())

const adminOf = ({ organizationId }: { organizationId: string }) =>
  app.key(organizationId, { permissions: { admin_access: true } })

/** A domain of acme, and the path of its keys. */
async function keysOf(domain: string) {
  const { id } = (await acme.post('/api/v1/domains/', { domain })).body.data
  return { id, path: `/api/v1/domains/${id}/dkim-keys` }
}

it('lets a tenant make a key, and sign with it once DNS shows its record', async () => {
  const { id, path } = await keysOf('own.test')
  const made = await admin.post(path)
  expect(made).toMatchObject({
    status: 201,
    body: { data: { active: false, retired_at: null, record_type: 'TXT' } },
  })
  expect(made.text).not.toContain('private')
  const { selector, record_name, record_value } = made.body.data
  expect(record_name).toBe(`${selector}._domainkey.own.test`)

  const early = await admin.post(`${path}/${selector}/activate`)
  expect(early).toMatchObject({ status: 409, body: { error_code: 'DKIM_RECORD_NOT_VISIBLE' } })
  expect(early.body.msg).not.toContain('force')
  dns.state.records[record_name] = { TXT: ['v=DKIM1; k=rsa; p=AAAA'] }
  expect((await admin.post(`${path}/${selector}/activate`)).status).toBe(409)
  dns.state.records[record_name] = { TXT: [record_value] }
  const activated = await admin.post(`${path}/${selector}/activate`)
  expect(activated).toMatchObject({
    status: 200,
    body: { data: { active_selector: selector, deactivated_selectors: ['default'] } },
  })
  expect((await admin.get(path)).body.data).toMatchObject({
    domain_id: id,
    signing_selector: selector,
    total: 2,
    items: [
      { selector, active: true },
      { selector: 'default', active: false, retired_at: expect.any(String) },
    ],
  })
  expect((await admin.post(`${path}/${selector}/activate`)).status).toBe(200)
})

it('does not let a tenant force the activation of an invisible DKIM record', async () => {
  const { path } = await keysOf('forced.test')
  const { selector } = (await admin.post(path)).body.data
  const forced = await admin.post(`${path}/${selector}/activate`, { force: true, reason: 'now' })
  expect(forced.status).toBe(409)
  dns.state.silent = true
  try {
    expect((await admin.post(`${path}/${selector}/activate`)).status).toBe(409)
  } finally {
    dns.state.silent = false
  }
  expect((await admin.get(path)).body.data.signing_selector).toBe('default')
})

it('refuses a sixth DKIM key that waits for its activation, also when they are made at once', async () => {
  const { path } = await keysOf('many.test')
  const answers = await Promise.all(Array.from({ length: 7 }, () => admin.post(path)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409])
  expect(answers.find(({ status }) => status === 409)?.body.error_code).toBe('DKIM_TOO_MANY_KEYS')
  const waiting = (await admin.get(path)).body.data.items.at(-1).selector
  expect(await admin.delete(`${path}/${waiting}`)).toMatchObject({
    status: 200,
    body: { data: { selector: waiting } },
  })
  expect((await admin.post(path)).status).toBe(201)
})

it('deletes only a DKIM key that was never activated', async () => {
  const { path } = await keysOf('used.test')
  expect(await admin.delete(`${path}/default`)).toMatchObject({
    status: 409,
    body: { error_code: 'DKIM_KEY_IN_USE' },
  })
  const { selector, record_name, record_value } = (await admin.post(path)).body.data
  dns.state.records[record_name] = { TXT: [record_value] }
  await admin.post(`${path}/${selector}/activate`)
  expect((await admin.delete(`${path}/default`)).status).toBe(409)
  expect((await admin.delete(`${path}/nope`)).body.msg).toBe(
    "No DKIM key with selector 'nope' on this domain",
  )
})

it("returns 404 for the DKIM keys of another organization's domain", async () => {
  const { path } = await keysOf('mine.test')
  const answers = [
    await globex.get(path),
    await globex.post(path),
    await globex.post(`${path}/default/activate`),
    await globex.delete(`${path}/default`),
  ]
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
  }
  expect((await admin.get(path)).body.data.total).toBe(1)
})

it('lets a read-only key see DKIM keys and a write key not make or activate them', async () => {
  const { path } = await keysOf('levels.test')
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  const writer = await app.key(acme.organizationId, { permissions: {} })
  expect((await reader.get(path)).status).toBe(200)
  expect((await writer.post(path)).status).toBe(403)
  expect((await writer.post(`${path}/default/activate`)).status).toBe(403)
  expect((await writer.delete(`${path}/default`)).status).toBe(403)
})
