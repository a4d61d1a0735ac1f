import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ulid } from '../../lib/ulid.ts'

const PATH = '/api/v1/shared-mailboxes'

let app: App
type Tenant = Awaited<ReturnType<App['tenant']>>
let acme: Tenant
let globex: Tenant
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

let count = 0
const fresh = (domain = 'acme.test') => `team${++count}@${domain}`
const create = (body: object, client: Pick<Tenant, 'post'> = acme) => client.post(PATH, body)
const created = async (email = fresh()) => {
  const answer = await create({ email, name: 'Team' })
  expect(answer.status).toBe(201)
  return answer.body.data as { id: string; email: string }
}
const stored = (email: string) =>
  app.core.db
    .selectFrom('shared_mailboxes')
    .selectAll()
    .where('email', '=', email)
    .orderBy('id')
    .execute()
const eventsAbout = async (id: string) => {
  const rows = await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()
  return rows.filter(
    ({ data }) => (data as { shared_mailbox_id?: string }).shared_mailbox_id === id,
  )
}
const changeDomain = (id: string, fields: { active?: boolean; verified_at?: null }) =>
  app.core.db.updateTable('domains').set(fields).where('id', '=', id).execute()

describe('creating a shared mailbox', () => {
  it.each([
    [{}, ['email', 'name']],
    [{ email: 'team@acme.test' }, ['name']],
    [{ name: 'Team' }, ['email']],
    [{ email: 7, name: 'Team' }, ['email']],
    [{ email: 'team', name: 'Team' }, ['email']],
    [{ email: '@acme.test', name: 'Team' }, ['email']],
    [{ email: 'te am@acme.test', name: 'Team' }, ['email']],
    [{ email: 'team@acme.test\r\nBcc: x@x.example', name: 'Team' }, ['email']],
    [{ email: 'team@acme.test', name: '' }, ['name']],
    [{ email: 'team@acme.test', name: ' ' }, ['name']],
    [{ email: 'team@acme.test', name: 'x'.repeat(256) }, ['name']],
    [{ email: 'team@acme.test', name: 'Team', auto_reply_enabled: 'yes' }, ['auto_reply_enabled']],
    [
      { email: 'team@acme.test', name: 'Team', auto_reply_message: 'x'.repeat(20_001) },
      ['auto_reply_message'],
    ],
  ])('rejects %j', async (body, fields) => {
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(fields)
    expect(await stored('team@acme.test')).toEqual([])
  })

  it("returns 404 for an unknown or another organization's domain", async () => {
    for (const email of ['team@nowhere.test', 'team@globex.test']) {
      const body = { email, name: 'Team', organization_id: globex.organizationId }
      expect(await create(body)).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
      expect(await stored(email)).toEqual([])
    }
  })

  it('requires a verified and active domain', async () => {
    const other = await app.tenant('other')
    await changeDomain(other.domainId, { verified_at: null })
    expect(await create({ email: 'team@other.test', name: 'Team' }, other)).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('Domain other.test is not verified') },
    })
    await changeDomain(other.domainId, { active: false })
    expect(await create({ email: 'team@other.test', name: 'Team' }, other)).toMatchObject({
      status: 400,
      body: { msg: 'Domain other.test is inactive' },
    })
  })

  it('rejects an address that is already in use', async () => {
    const { id, email } = await created()
    await acme.post('/api/v1/aliases/add', {
      source: 'alias@acme.test',
      destination: 'x@x.example',
    })
    await app.core.db
      .insertInto('smtp_credentials')
      .values({
        id: ulid(),
        organization_id: acme.organizationId,
        domain_id: acme.domainId,
        username: 'app@acme.test',
        secret_hash: '',
      })
      .execute()
    for (const [address, by, error_code] of [
      [email.toUpperCase(), 'a shared mailbox', 'MAILBOX_ALREADY_EXISTS'],
      [acme.email, 'a mailbox', 'MAILBOX_ALREADY_EXISTS'],
      // B7.5: these are no mailboxes.
      ['alias@acme.test', 'an alias', 'ADDRESS_IN_USE'],
      ['app@acme.test', 'an SMTP login', 'ADDRESS_IN_USE'],
    ] as const) {
      expect(await create({ email: address, name: 'Team' })).toMatchObject({
        status: 409,
        body: { msg: `Address ${address.toLowerCase()} is already used by ${by}`, error_code },
      })
    }
    expect((await create({ email, name: 'Team' })).body).toMatchObject({
      error_code: 'MAILBOX_ALREADY_EXISTS',
      data: { existing_id: id },
    })
  })

  it('creates one shared mailbox for many concurrent requests with one address', async () => {
    const email = fresh()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => create({ email, name: 'Team' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })

  it('stores the name unchanged and takes the organization from the domain', async () => {
    const email = fresh()
    const name = ' <b>Söpport</b> & "co" 🦄 '
    const answer = await create({
      email: email.toUpperCase(),
      name,
      organization_id: globex.organizationId,
      auto_reply_enabled: true,
      auto_reply_message: 'Back\nsoon',
    })
    expect(answer).toMatchObject({
      status: 201,
      body: { type: 'success', msg: 'Shared mailbox created successfully' },
    })
    const { data } = answer.body
    expect(data).toEqual({
      id: expect.any(String),
      email,
      name,
      organization_id: acme.organizationId,
      mailbox_type: 'shared',
      status: 'active',
      auto_reply_enabled: true,
      auto_reply_message: 'Back\nsoon',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await acme.get(`${PATH}/${data.id}`)).body.data).toEqual({ mailbox: data, members: [] })
    expect(await eventsAbout(data.id)).toMatchObject([
      {
        event: 'shared_mailbox.created',
        source: 'api',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { email, name, organization_id: acme.organizationId },
      },
    ])
  })

  it('rejects a read-only key', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await create({ email: fresh(), name: 'Team' }, reader)).status).toBe(403)
    expect((await reader.get(PATH)).status).toBe(200)
  })

  it('lets a platform key create one for the organization of the domain', async () => {
    const email = fresh('globex.test')
    const operator = await app.operator('operator')
    const answer = await create(
      { email, name: 'Team', organization_id: acme.organizationId },
      operator,
    )
    expect(answer).toMatchObject({
      status: 201,
      body: { data: { organization_id: globex.organizationId } },
    })
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    expect((await platform.get(`${PATH}/${answer.body.data.id}`)).status).toBe(200)
  })
})

describe('listing shared mailboxes', () => {
  it("returns the organization's active shared mailboxes, sorted by address", async () => {
    const hooli = await app.tenant('hooli')
    const ids: Record<string, string> = {}
    for (const name of ['b', 'a', 'c']) {
      ids[name] = (await create({ email: `${name}@hooli.test`, name }, hooli)).body.data.id
    }
    await hooli.post(`${PATH}/${ids.a}/members`, { email_account_id: hooli.accountId })
    await hooli.delete(`${PATH}/${ids.c}`)
    const { data } = (await hooli.get(PATH)).body
    expect(data).toEqual([
      {
        id: ids.a,
        email: 'a@hooli.test',
        name: 'a',
        organization_id: hooli.organizationId,
        status: 'active',
        member_count: 1,
        created_at: expect.any(String),
      },
      expect.objectContaining({ id: ids.b, member_count: 0 }),
    ])
    const emails = async (query: string, client: Pick<Tenant, 'get'> = hooli) =>
      (await client.get(`${PATH}${query}`)).body.data.map(({ email }: { email: string }) => email)
    expect(await emails('?status=inactive')).toEqual(['c@hooli.test'])
    expect(await emails('?page=2&per_page=1')).toEqual(['b@hooli.test'])
    expect(await emails(`?organization_id=${acme.organizationId}`)).toHaveLength(2)
    const support = await app.operator('support')
    expect(await emails(`?organization_id=${hooli.organizationId}`, support)).toHaveLength(2)
    expect((await emails('', support)).length).toBeGreaterThan(2)
    expect((await hooli.get(`${PATH}?status=gone`)).status).toBe(422)
  })

  it('redirects the collection URL with a trailing slash, also for a POST', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await acme.call(method, `${PATH}/`)
      expect(answer).toMatchObject({ status: 307, headers: { location: PATH } })
    }
  })
})

describe('deleting a shared mailbox', () => {
  it("returns 404 for an unknown, deleted or another organization's shared mailbox", async () => {
    const { id } = await created()
    for (const [client, name] of [
      [acme, ulid()],
      [acme, "' or 1=1 --"],
      [globex, id],
    ] as const) {
      const path = `${PATH}/${encodeURIComponent(name)}`
      const msg = 'Shared mailbox not found'
      expect(await client.get(path)).toMatchObject({ status: 404, body: { msg } })
      expect(await client.delete(path)).toMatchObject({ status: 404, body: { msg } })
    }
    expect((await acme.get(`${PATH}/${id}`)).status).toBe(200)
  })

  it('keeps the row as history, removes the members and frees the address at once', async () => {
    const { id, email } = await created()
    await acme.post(`${PATH}/${id}/members`, { email_account_id: acme.accountId })
    expect(await acme.delete(`${PATH}/${id}`)).toMatchObject({
      status: 200,
      body: { msg: 'Shared mailbox deleted successfully' },
    })
    expect((await acme.get(`${PATH}/${id}`)).status).toBe(404)
    expect((await acme.delete(`${PATH}/${id}`)).status).toBe(404)
    const again = await created(email)
    expect(await stored(email)).toMatchObject([
      { id, status: 'inactive' },
      { id: again.id, status: 'active' },
    ])
    expect(
      await app.core.db
        .selectFrom('shared_mailbox_members')
        .where('shared_mailbox_id', '=', id)
        .selectAll()
        .execute(),
    ).toEqual([])
    expect((await eventsAbout(id)).at(-1)).toMatchObject({
      event: 'shared_mailbox.deleted',
      org_id: acme.organizationId,
      data: { email },
    })
  })

  it('is rejected while a catch-all forwards to it, which would create a loop', async () => {
    const { id, email } = await created()
    await acme.post('/api/v1/aliases/add', { source: '@acme.test', destination: email })
    expect(await acme.delete(`${PATH}/${id}`)).toMatchObject({
      status: 400,
      body: {
        msg: `This would create a forwarding loop: ${email} -> @acme.test -> ${email}`,
      },
    })
    expect((await acme.get(`${PATH}/${id}`)).status).toBe(200)
    await acme.post('/api/v1/aliases/delete', ['@acme.test'])
    expect((await acme.delete(`${PATH}/${id}`)).status).toBe(200)
  })
})
