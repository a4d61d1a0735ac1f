import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../test/support/app.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/time.ts'
import { ulid } from '../../lib/ulid.ts'

const PATH = '/api/v1/smtp-credentials/'

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
const eventsOf = async (id: string, who: Client = acme) =>
  (await who.get(`${PATH}${id}/events`)).body.data.events

describe('the trail of an SMTP credential', () => {
  it('lists actor and change, newest first', async () => {
    const { id, username } = await create()
    await acme.patch(`${PATH}${id}`, { name: 'Invoices', expires_at: '2031-01-01T01:00:00+01:00' })
    await acme.post(`${PATH}${id}/rotate`)
    const answer = await acme.get(`${PATH}${id}/events`)
    expect(answer.body.msg).toBe('SMTP credential events retrieved successfully')
    const { events } = answer.body.data
    expect(events.map(({ event }: { event: string }) => event)).toEqual([
      'rotated',
      'updated',
      'created',
    ])
    expect(events[1]).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      credential_id: id,
      organization_id: acme.organizationId,
      username,
      event: 'updated',
      actor: `api-key:${acme.organizationId}`,
      source_ip: '127.0.0.1',
      detail: '{"name":"Invoices","expires_at":"2031-01-01T00:00:00.000Z"}',
      created_at: expect.stringMatching(/Z$/),
    })
    expect((await acme.get(`${PATH}${id}/events?limit=1`)).body.data.events).toEqual([events[0]])
    expect((await acme.get(`${PATH}${id}/events?limit=501`)).status).toBe(200)
  })

  it.each([['0'], ['-1'], ['many'], ['']])('rejects limit=%s', async (limit) => {
    const { id } = await create()
    expect(await acme.get(`${PATH}${id}/events?limit=${limit}`)).toMatchObject({
      status: 422,
      body: { type: 'error', detail: [{ loc: ['query', 'limit'] }] },
    })
  })

  it('stays readable for its organization after the credential is deleted', async () => {
    const { id } = await create()
    await acme.delete(`${PATH}${id}`)
    expect(await eventsOf(id)).toMatchObject([{ event: 'deleted' }, { event: 'created' }])
    expect((await globex.get(`${PATH}${id}/events`)).status).toBe(404)
    expect((await acme.get(`${PATH}${ulid()}/events`)).status).toBe(404)
  })

  it('stays readable after domain and organization are deleted, and records the deletion', async () => {
    const operator = await app.operator('admin')
    const { organizationId } = await app.tenant('hooli')
    const added = await operator.post('/api/v1/domains/', {
      domain: 'second-hooli.test',
      organization_id: organizationId,
    })
    const domain_id = added.body.data.id
    const created = await Promise.all([1, 2].map(() => platformKey.post(PATH, { domain_id })))
    const [one, two] = created.map(({ body }) => body.data)
    expect((await operator.delete(`/api/v1/domains/${domain_id}`)).status).toBe(200)
    for (const { id, username } of [one, two]) {
      expect((await platformKey.get(`${PATH}${id}`)).status).toBe(404)
      expect(await eventsOf(id, platformKey)).toMatchObject([
        { event: 'deleted', username, actor: `operator:${operator.id}` },
        { event: 'created', username, actor: 'platform-api-key' },
      ])
    }
    await app.core.db
      .deleteFrom('email_accounts')
      .where('organization_id', '=', organizationId)
      .execute()
    await app.core.db.deleteFrom('domains').where('organization_id', '=', organizationId).execute()
    const gone = await operator.delete(`/api/v1/organizations/${organizationId}`)
    expect(gone.status).toBe(200)
    expect(await eventsOf(one.id, platformKey)).toHaveLength(2)
  })

  it('records every credential when a domain is deleted during a creation', async () => {
    const added = await acme.post('/api/v1/domains/', { domain: 'short-lived.test' })
    const domain_id = added.body.data.id
    const [created, deleted] = await Promise.all([
      acme.post(PATH, { domain_id }),
      acme.delete(`/api/v1/domains/${domain_id}`),
    ])
    expect(deleted.status).toBe(200)
    expect([201, 404]).toContain(created.status)
    if (created.status === 201) {
      expect(await eventsOf(created.body.data.id)).toMatchObject([
        { event: 'deleted' },
        { event: 'created' },
      ])
    }
  })

  it('records any number of concurrent deletions', async () => {
    const added = await acme.post('/api/v1/domains/', { domain: 'crowded.test' })
    const domain_id = added.body.data.id
    await sql`insert into smtp_credentials (id, organization_id, domain_id, username, secret_hash)
      select 'crowd-' || n, ${acme.organizationId}, ${domain_id}, 'crowd-' || n, 'x'
      from generate_series(1, 7500) n`.execute(app.core.db)
    expect((await acme.delete(`/api/v1/domains/${domain_id}`)).status).toBe(200)
    expect(await eventsOf('crowd-7500')).toMatchObject([{ event: 'deleted' }])
  })

  it('cannot be changed, not even in the database', async () => {
    await create()
    const { db } = app.core
    for (const statement of [
      sql`update smtp_credential_events set actor = 'nobody'`,
      sql`delete from smtp_credential_events`,
      sql`truncate smtp_credential_events`,
    ]) {
      await expect(statement.execute(db)).rejects.toThrow('append-only')
    }
  })
})

describe('the usage of an SMTP credential', () => {
  const logged = (credential_id: string, status: string, daysAgo: number) =>
    app.core.db
      .insertInto('mail_log')
      .values({
        id: ulid(),
        credential_id,
        status: status as 'sent',
        timestamp: new Date(app.clock.now().getTime() - daysAgo * DAY_MS).toISOString(),
      })
      .execute()

  const dateOf = (daysAgo: number) =>
    new Date(app.clock.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10)

  it('counts the messages within the window, by status and day', async () => {
    const { id } = await create()
    const { id: other } = await create()
    for (const status of ['delivered', 'delivered', 'bounced', 'deferred', 'queued']) {
      await logged(id, status, 1)
    }
    await logged(id, 'rejected', 20)
    await logged(id, 'delivered', 40)
    await logged(other, 'delivered', 1)
    const last_used_at = '2026-01-02T03:04:05.000Z'
    await app.core.db
      .updateTable('smtp_credentials')
      .set({ last_used_at })
      .where('id', '=', id)
      .execute()
    const answer = await acme.get(`${PATH}${id}/usage`)
    expect(answer.body).toEqual({
      type: 'success',
      msg: 'SMTP credential usage retrieved successfully',
      data: {
        window_days: 30,
        since: expect.stringMatching(/Z$/),
        total: 6,
        delivered: 2,
        bounced: 1,
        deferred: 1,
        rejected: 1,
        by_status: { bounced: 1, deferred: 1, delivered: 2, queued: 1, rejected: 1 },
        days: Array.from({ length: 31 }, (_, nth) => ({
          date: dateOf(30 - nth),
          delivered: nth === 29 ? 2 : 0,
          bounced: nth === 29 ? 1 : 0,
          deferred: nth === 29 ? 1 : 0,
          rejected: nth === 10 ? 1 : 0,
        })),
        last_used_at,
      },
    })
    const week = (await acme.get(`${PATH}${id}/usage?days=7`)).body.data
    expect(week).toMatchObject({ window_days: 7, total: 5, rejected: 0 })
    expect(week.by_status).not.toHaveProperty('rejected')
    const since = app.clock.now().getTime() - Date.parse(week.since)
    expect(Math.abs(since - 7 * DAY_MS)).toBeLessThan(MINUTE_MS)
    expect((await acme.get(`${PATH}${id}/usage?days=365`)).body.data.total).toBe(7)
  })

  it('is empty for a credential that sent nothing', async () => {
    const { id } = await create()
    expect((await acme.get(`${PATH}${id}/usage`)).body.data).toMatchObject({
      total: 0,
      delivered: 0,
      by_status: {},
      last_used_at: null,
    })
  })

  it.each([['0'], ['366'], ['-1'], ['week'], ['1.5'], ['']])('rejects days=%s', async (days) => {
    const { id } = await create()
    expect(await acme.get(`${PATH}${id}/usage?days=${days}`)).toMatchObject({
      status: 422,
      body: { type: 'error', detail: [{ loc: ['query', 'days'] }] },
    })
  })
})
