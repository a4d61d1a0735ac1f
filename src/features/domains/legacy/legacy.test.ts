import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const path = '/api/v1/domains'
const create = async (domain: string) =>
  (await acme.post(`${path}/`, { domain, dkim_enabled: false })).body.data

it('changes several domains by name or id, with one outcome per item', async () => {
  const one = await create('one.test')
  const { body } = await acme.post(`${path}/edit`, {
    items: ['ONE.test', one.id, 'nowhere.test', 'globex.test'],
    attr: { description: 'edited', mailboxes: '25', maxquota: 2048, active: '1', gal: 1 },
  })
  expect(body).toMatchObject({
    msg: 'Domain update completed',
    data: [
      { domain: 'ONE.test', status: 'success', msg: 'Domain ONE.test updated successfully' },
      { domain: one.id, status: 'success' },
      { domain: 'nowhere.test', status: 'error', msg: 'Domain nowhere.test not found' },
      { domain: 'globex.test', status: 'error', msg: 'Domain globex.test not found' },
    ],
  })
  expect((await acme.get(`${path}/${one.id}`)).body.data).toMatchObject({
    description: 'edited',
    max_users: 25,
    max_quota: 2048,
  })
  expect((await globex.get(`${path}/${globex.domainId}`)).body.data.description).toBeNull()
})

it('reports an invalid attribute per item and rejects an invalid body as a whole', async () => {
  await create('two.test')
  const { body } = await acme.post(`${path}/edit`, { items: ['two.test'], attr: { quota: -5 } })
  expect(body.data).toMatchObject([{ status: 'error', msg: 'Max quota must be non-negative' }])
  for (const sent of [{ items: 'two.test', attr: {} }, { items: ['two.test'] }]) {
    expect(await acme.post(`${path}/edit`, sent)).toMatchObject({
      status: 400,
      body: { msg: 'Invalid request format' },
    })
  }
})

it('refuses attributes of a domain that cannot be changed, by name and for each item', async () => {
  const { id } = await create('three.test')
  const edit = async (attr: object) =>
    (await acme.post(`${path}/edit`, { items: ['three.test', 'globex.test'], attr })).body.data
  expect(await edit({ domain: 'four.test', organization_id: globex.organizationId })).toEqual([
    {
      domain: 'three.test',
      status: 'error',
      msg: 'Nothing was changed: domain, organization_id cannot be changed here',
    },
    { domain: 'globex.test', status: 'error', msg: 'Domain globex.test not found' },
  ])
  expect((await edit({ domain: 'four.test', description: 'third' }))[0].status).toBe('success')
  expect((await acme.get(`${path}/${id}`)).body.data).toMatchObject({
    domain: 'three.test',
    description: 'third',
  })
})

it('returns one outcome for each domain item of any JSON type', async () => {
  const items = [{ toString: 1 }, null, 7, []]
  const edited = await acme.post(`${path}/edit`, { items, attr: { active: 1 } })
  expect(edited.body.data.map(({ domain }: { domain: string }) => domain)).toEqual([
    '{"toString":1}',
    'null',
    '7',
    '[]',
  ])
  const deleted = await acme.post(`${path}/delete/domain`, items)
  expect(deleted.body.data).toHaveLength(items.length)
})

it('deletes domains with their contents and nothing of another organization', async () => {
  const tenant = await app.tenant('doomed')
  const { twoFactor } = app.core.access
  const holder = { kind: 'mailbox' as const, id: tenant.accountId }
  await twoFactor.begin(app.core.db, holder, tenant.email)
  const { body } = await tenant.post(`${path}/delete/domain`, ['doomed.test', 'acme.test'])
  expect(body).toMatchObject({
    msg: 'Domain deletion completed',
    data: [
      {
        domain: 'doomed.test',
        status: 'success',
        stats: { mailboxes_deleted: 1, aliases_deleted: 0 },
      },
      { domain: 'acme.test', status: 'error', msg: 'Domain acme.test not found' },
    ],
  })
  expect((await tenant.get(`${path}/${tenant.domainId}`)).status).toBe(404)
  expect((await acme.get(`${path}/${acme.domainId}`)).status).toBe(200)
  const left = await app.core.db
    .selectFrom('addresses')
    .select('address')
    .where('address', 'like', '%doomed%')
    .execute()
  expect(left).toEqual([])
  expect((await twoFactor.status(app.core.db, holder)).pending).toBe(false)
  const organization = await app.core.db
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', tenant.organizationId)
    .executeTakeFirstOrThrow()
  expect(organization).toMatchObject({ domain_count: 0, email_account_count: 0, storage_quota: 0 })
  expect(await tenant.post(`${path}/delete/domain`, { domain: 'x' })).toMatchObject({
    status: 400,
    body: { msg: 'Invalid request format - array of domains expected' },
  })
})

it('stores a spam policy and sets omitted switches to their defaults', async () => {
  expect((await acme.get(`${path}/get/domain/policy/acme.test`)).body.data).toMatchObject({
    domain: 'acme.test',
    policy_bl_only: null,
    policy_rbl: null,
  })
  const edit = (sent: object) => acme.post(`${path}/edit/domain/policy`, sent)
  expect(
    await edit({ domain: 'acme.test', policy_reject_spam: 1, policy_greylist: 0 }),
  ).toMatchObject({
    status: 200,
    body: { msg: 'Domain policy updated for acme.test' },
  })
  await edit({ domain: 'acme.test', policy_bl_only: 1 })
  expect((await acme.get(`${path}/get/domain/policy/ACME.test`)).body.data).toMatchObject({
    policy_bl_only: 1,
    policy_reject_spam: 0,
    policy_greylist: 1,
    policy_rbl: 1,
  })
  expect(await edit({ policy_rbl: 1 })).toMatchObject({
    status: 400,
    body: { msg: 'Missing required field: domain' },
  })
  expect((await edit({ domain: 'acme.test', policy_rbl: 7 })).body.data.errors).toEqual([
    'policy_rbl must be 0 or 1',
  ])
  expect((await edit({ domain: 'globex.test' })).status).toBe(404)
  expect((await acme.get(`${path}/get/domain/policy/globex.test`)).status).toBe(404)
})

it('returns the mailbox and alias counts of a domain', async () => {
  expect((await acme.get(`${path}/stats/acme.test`)).body.data).toMatchObject({
    domain: 'acme.test',
    mailbox_count: 1,
    alias_count: 0,
    total_quota_used: 0,
    domain_details: { id: acme.domainId },
  })
  expect(await acme.get(`${path}/stats/globex.test`)).toMatchObject({
    status: 404,
    body: { msg: 'Domain not found' },
  })
})
