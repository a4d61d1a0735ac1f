import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Mail, storeMail } from '../../../../test/support/traffic.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { fold } from '../../analytics/traffic.repository.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>

const dateOf = (time: Date) => time.toISOString().slice(0, 10)
const pathOf = (id: string) => `/api/v1/organizations/${id}/overview`
const overview = async (query = '', client: Pick<typeof acme, 'get'> = acme) => {
  const { status, body } = await client.get(`${pathOf(acme.organizationId)}${query}`)
  expect(body).toMatchObject({ type: 'success', msg: 'Overview retrieved' })
  expect(status).toBe(200)
  return body.data
}

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

describe('mail by day', () => {
  const ago = (days: number) => new Date(app.clock.now().getTime() - days * DAY_MS)
  const sent = (status: string, at: Date): Mail => ({
    sender: 'shop@acme.test',
    recipient: 'jane@far.test',
    status,
    at,
    organizationId: acme.organizationId,
  })

  it('counts messages by their last state, before and after the roll-up', async () => {
    const threeDaysAgo = ago(3)
    await storeMail(app, [
      sent('delivered', ago(0)),
      sent('delivered', threeDaysAgo),
      sent('bounced', threeDaysAgo),
      sent('deferred', threeDaysAgo),
      sent('deferred', ago(10)),
      sent('rejected', threeDaysAgo),
      { ...sent('delivered', threeDaysAgo), sender: 'jane@far.test', recipient: 'shop@acme.test' },
      { ...sent('rejected', threeDaysAgo), sender: 'jane@far.test', recipient: 'shop@acme.test' },
      // Mail of another organization, and mail that is older than the days asked for.
      {
        ...sent('bounced', threeDaysAgo),
        sender: 'x@globex.test',
        organizationId: globex.organizationId,
      },
      sent('bounced', ago(40)),
    ])
    const before = await overview()
    expect(before.days).toHaveLength(30)
    expect(before.days.map(({ date }: { date: string }) => date)).toEqual(
      Array.from({ length: 30 }, (_, nth) =>
        ago(29 - nth)
          .toISOString()
          .slice(0, 10),
      ),
    )
    expect(before.days.at(-4)).toEqual({
      date: ago(3).toISOString().slice(0, 10),
      sent: 4,
      delivered: 1,
      bounced: 1,
      deferred: 1,
      rejected: 1,
      received: 1,
    })
    expect(before.totals).toEqual({
      sent: 6,
      delivered: 2,
      bounced: 1,
      deferred: 2,
      rejected: 1,
      received: 1,
    })
    expect(before.deferred_now).toBe(1)
    await fold(app.core.db, 10_000)
    expect({ ...(await overview()), generated_at: '' }).toEqual({ ...before, generated_at: '' })
  })

  it('has the days of the time zone', async () => {
    const { days, timezone, generated_at } = await overview('?days=2&timezone=Pacific/Kiritimati')
    const today = new Date(Date.parse(generated_at) + 14 * 3_600_000)
    expect(timezone).toBe('Pacific/Kiritimati')
    expect(days.at(-1).date).toBe(dateOf(today))
    expect(days).toHaveLength(2)
  })
})

it('lists what needs attention, and nothing of other organizations', async () => {
  const { db } = app.core
  const soon = new Date(app.clock.now().getTime() + 3 * DAY_MS).toISOString()
  const later = new Date(app.clock.now().getTime() + 90 * DAY_MS).toISOString()
  const made = async (client: typeof acme, path: string, body: object) => {
    const answer = await client.post(path, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body.data
  }
  const attention = async () => (await overview()).attention
  await db
    .updateTable('domains')
    .set({ verified_at: app.clock.now().toISOString() })
    .where('organization_id', '=', acme.organizationId)
    .execute()
  expect(await attention()).toEqual([])

  for (const tenant of [acme, globex]) {
    const domain = await made(tenant, '/api/v1/domains/', { domain: `shop-of-${tenant.domain}` })
    const account = await made(tenant, '/api/v1/mailboxes/email-accounts', {
      email: `full@${tenant.domain}`,
      password: 'a-long-passphrase-1',
      storage_quota: 1000,
    })
    await db
      .updateTable('email_accounts')
      .set({ storage_used: 970 })
      .where('id', '=', account.id)
      .execute()
    const credentials = ['Web shop', 'Later'].map((name) =>
      made(tenant, '/api/v1/smtp-credentials/', {
        domain_id: tenant.domainId,
        name,
        expires_at: name === 'Later' ? later : soon,
      }),
    )
    const [credential] = await Promise.all(credentials)
    const endpoints = await Promise.all(
      ['Failing', 'Recovered'].map((name) =>
        made(tenant, '/api/v1/webhooks/endpoints', {
          url: `https://hooks.${tenant.domain}/${name}`,
          name,
        }),
      ),
    )
    const delivery = (nth: number, delivery_status: 'failed' | 'delivered', minute: number) => ({
      id: ulid(),
      event_id: ulid(),
      event_type: 'domain.added',
      organization_id: tenant.organizationId,
      endpoint_id: endpoints[nth].id as string,
      webhook_url: 'https://hooks.test/',
      delivery_status,
      http_status_code: delivery_status === 'failed' ? 500 : 200,
      attempts: 1,
      created_at: new Date(app.clock.now().getTime() - (10 - minute) * 60_000).toISOString(),
    })
    await db
      .insertInto('webhook_deliveries')
      .values([
        delivery(0, 'delivered', 1),
        delivery(0, 'failed', 2),
        delivery(0, 'failed', 3),
        delivery(1, 'failed', 1),
        delivery(1, 'delivered', 2),
      ])
      .execute()
    await db
      .updateTable('api_keys')
      .set({ expires_at: soon })
      .where('key_id', '=', tenant.keyId)
      .execute()
    if (tenant !== acme) continue
    const none = { used_percent: null, failed_deliveries: null, expires_at: null }
    expect(await attention()).toEqual([
      { ...none, kind: 'domain_unproven', id: domain.id, name: 'shop-of-acme.test' },
      { ...none, kind: 'mailbox_full', id: account.id, name: 'full@acme.test', used_percent: 97 },
      {
        ...none,
        kind: 'webhook_failing',
        id: endpoints[0].id,
        name: 'Failing',
        failed_deliveries: 2,
      },
      {
        ...none,
        kind: 'credential_expiring',
        id: credential.id,
        name: 'Web shop',
        expires_at: soon,
      },
      expect.objectContaining({ kind: 'api_key_expiring', id: acme.keyId, expires_at: soon }),
    ])
  }
  const names = (await attention()).map(({ name }: { name: string }) => name)
  expect(names.join()).not.toContain('globex')
  expect(names).toHaveLength(5)
})

describe('GET /organizations/{organization_id}/overview', () => {
  it('is found by operators and not by other organizations', async () => {
    expect(await globex.get(pathOf(acme.organizationId))).toMatchObject({
      status: 404,
      body: { msg: 'Organization not found' },
    })
    const operator = await app.operator('support')
    expect(await overview('', operator)).toMatchObject({ organization_id: acme.organizationId })
    expect((await operator.get(pathOf('nobody'))).status).toBe(404)
  })

  it.each([
    ['?days=0', 'days must be at least 1'],
    ['?days=366', 'days must be at most 365'],
    ['?timezone=Mars/Olympus', 'timezone must be a name such as UTC or Europe/Berlin'],
  ])('refuses the query %s', async (query, msg) => {
    expect(await acme.get(pathOf(acme.organizationId) + query)).toMatchObject({
      status: 422,
      body: { msg },
    })
  })
})
