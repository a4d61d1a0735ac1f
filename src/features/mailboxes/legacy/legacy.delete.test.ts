import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { eventsOf, insertMailbox, mailboxRow } from '../../../../test/support/mailboxes.ts'
import { ulid } from '../../../lib/ulid.ts'

const BASE = '/api/v1/mailboxes'
const GIB = 1024 ** 3

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let acme: Tenant
let globex: Tenant

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const box = (fields: Parameters<typeof insertMailbox>[2] = {}, of = acme) =>
  insertMailbox(app, of, { storage_quota: 0, ...fields })

const aliasEvents = async () =>
  (
    await app.core.db
      .selectFrom('events')
      .select('event')
      .where('event', 'like', 'alias.%')
      .orderBy('sequence')
      .execute()
  ).map(({ event }) => event)

describe('POST /delete', () => {
  const alias = async (destination: string, of = acme) => {
    const id = ulid()
    await app.core.db
      .insertInto('aliases')
      .values({
        id,
        organization_id: of.organizationId,
        domain_id: of.domainId,
        source: `${id.toLowerCase()}@${of.domain}`,
        destination,
        destinations: destination.split(',').map((entry) => entry.trim().toLowerCase()),
      })
      .execute()
    return async () =>
      await app.core.db
        .selectFrom('aliases')
        .select(['destination', 'destinations'])
        .where('id', '=', id)
        .executeTakeFirst()
  }

  it('removes exactly this address from the aliases of its organization only', async () => {
    const one = await box({ email: 'ann@acme.test' })
    const only = await alias('Ann@acme.test')
    const twice = await alias('ann@acme.test,ANN@acme.test')
    const among = await alias('x@y.test,  Ann@Acme.test , Joann@acme.test')
    const longer = await alias('joann@acme.test')
    const before = await aliasEvents()
    const foreign = await alias('ann@acme.test', globex)
    const answer = await acme.post(`${BASE}/delete`, [one.email, globex.email, 'no@acme.test'])
    expect(answer.body).toMatchObject({ type: 'success', msg: 'Mailbox deletion completed' })
    expect(answer.body.data).toEqual([
      {
        mailbox: one.email,
        status: 'success',
        msg: 'Mailbox ann@acme.test deleted successfully',
        stats: { aliases_deleted: 2, messages_deleted: 0 },
      },
      { mailbox: globex.email, status: 'error', msg: `Mailbox ${globex.email} not found` },
      { mailbox: 'no@acme.test', status: 'error', msg: 'Mailbox no@acme.test not found' },
    ])
    expect(await only()).toBeUndefined()
    expect(await twice()).toBeUndefined()
    expect(await among()).toEqual({
      destination: 'x@y.test, joann@acme.test',
      destinations: ['x@y.test', 'joann@acme.test'],
    })
    expect((await longer())?.destinations).toEqual(['joann@acme.test'])
    expect((await foreign())?.destinations).toEqual(['ann@acme.test'])
    expect((await aliasEvents()).slice(before.length).sort()).toEqual([
      'alias.deleted',
      'alias.deleted',
      'alias.updated',
    ])
    expect(await mailboxRow(app, one.id)).toBeUndefined()
    expect(await mailboxRow(app, globex.accountId)).toBeDefined()
    expect(await eventsOf(app, one.id)).toMatchObject([
      {
        event: 'mailbox.deleted',
        org_id: acme.organizationId,
        data: { email: one.email, aliases_deleted: 2, messages_deleted: 0 },
      },
    ])
  })

  it('removes an address whose domain was sent in Unicode from the aliases', async () => {
    await acme.post('/api/v1/domains/', { domain: 'bücher.test', dkim_enabled: false })
    const ann = await acme.post('/api/v1/mailboxes/email-accounts', {
      email: 'ann@bücher.test',
      password: 'a-long-passphrase-1',
    })
    const made = await acme.post('/api/v1/aliases/add', {
      source: 'books@acme.test',
      destination: 'ann@bücher.test, x@y.example',
    })
    await acme.post(`${BASE}/delete`, [ann.body.data.email])
    const [left] = (await acme.get(`/api/v1/aliases/get/${made.body.data.alias_id}`)).body.data
    expect(left).toMatchObject({ destination: 'x@y.example', destinations: ['x@y.example'] })
  })

  it('is rejected while a catch-all forwards to the address, which would create a loop', async () => {
    const tenant = await app.tenant('circular')
    await tenant.post('/api/v1/aliases/add', {
      source: '@circular.test',
      destination: tenant.email,
    })
    const direct = await tenant.delete(`${BASE}/email-accounts/${tenant.accountId}`)
    expect(direct.status).toBe(400)
    const { body } = await tenant.post(`${BASE}/delete`, [tenant.email])
    // The older route removes the address from the aliases first.
    expect(body.data).toMatchObject([{ status: 'success', stats: { aliases_deleted: 1 } }])
  })

  it('rejects a body that is no list', async () => {
    expect(await acme.post(`${BASE}/delete`, { items: [acme.email] })).toMatchObject({
      status: 400,
      body: { msg: 'Invalid request format - array of mailboxes expected' },
    })
  })
})

describe('quota and statistics', () => {
  it('return the available bytes of the mailbox, or of the domain', async () => {
    const tiny = await app.tenant('tiny')
    await tiny.put(`/api/v1/domains/${tiny.domainId}`, { max_quota: 2 * GIB })
    const { email } = await box({ storage_quota: 100, storage_used: 25 }, tiny)
    const quota = async () => (await tiny.get(`${BASE}/get/quota/${email}`)).body.data
    expect(await quota()).toEqual({
      email,
      storage_quota: 100,
      storage_used: 25,
      usage_percent: 25,
      available: 75,
      folder_breakdown: [],
    })
    expect(await tiny.post(`${BASE}/edit/quota`, { mailbox: email, quota: '0' })).toMatchObject({
      status: 200,
      body: { type: 'success', msg: `Quota updated for ${email}` },
    })
    expect(await quota()).toMatchObject({ storage_quota: 0, available: 2 * GIB - 25 })
    await tiny.put(`/api/v1/domains/${tiny.domainId}`, { max_quota: 0 })
    expect(await quota()).toMatchObject({ available: null })
  })

  it.each([
    [{ mailbox: 'x@acme.test' }, 'Missing required fields: mailbox, quota'],
    [{ quota: 5 }, 'Missing required fields: mailbox, quota'],
    [{ mailbox: 'x@acme.test', quota: 'x' }, 'quota must be an integer number of bytes'],
    [{ mailbox: 'x@acme.test', quota: -1 }, 'quota must be non-negative'],
  ])('reject %j: %s', async (body, msg) => {
    expect(await acme.post(`${BASE}/edit/quota`, body)).toMatchObject({
      status: 400,
      body: { msg },
    })
  })

  it('count the logins of 30 days', async () => {
    const { id, email } = await box({ storage_used: 10 })
    await app.session('mailbox', id)
    await app.session('mailbox', id)
    const { body } = await acme.get(`${BASE}/get/stats/${email}`)
    expect(body.msg).toBe('Mailbox statistics retrieved successfully')
    expect(body.data).toMatchObject({
      mailbox_info: { email, last_login: null, storage_quota: 0, storage_used: 10 },
      message_stats: { total_messages: 0, unread_messages: null, avg_message_size: 0 },
      login_stats: { total_logins: 2, unique_ips: 1 },
    })
    expect(body.data.login_stats.last_login).toMatch(/Z$/)
  })
})
