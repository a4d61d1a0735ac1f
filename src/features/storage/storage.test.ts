import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'
import { insertMailbox } from '../../../test/support/mailboxes.ts'
import {
  countUsage,
  MIB,
  PATH,
  type StorageApp,
  startStorageApp,
  usageIsSummedUp,
} from '../../../test/support/storage.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { reportUsage } from './usage/usage.jobs.ts'

let app: StorageApp['app']
let doveadm: StorageApp['doveadm']
let acme: StorageApp['acme']
let globex: StorageApp['globex']
let admin: StorageApp['admin']
let stop: StorageApp['stop']
beforeAll(async () => {
  ;({ app, doveadm, acme, globex, admin, stop } = await startStorageApp())
})
afterAll(() => stop())
let box: Awaited<ReturnType<typeof insertMailbox>>
beforeEach(async () => {
  box = await insertMailbox(app, acme, { storage_quota: 1000 })
})

const count = (email: string, bytes: number, messages = 1) =>
  countUsage(app, email, bytes, messages)
const settled = () => usageIsSummedUp(app)
const usage = async (email: string, client: Pick<StorageApp['acme'], 'get'> = acme) =>
  client.get(`${PATH}/usage/mailbox/${email}`)
const sums = () =>
  app.core.db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select([
      'domains.total_storage_used',
      'domains.total_emails',
      'organizations.total_storage_used as of_organization',
    ])
    .where('domains.id', '=', acme.domainId)
    .executeTakeFirstOrThrow()

describe('storage usage', () => {
  it('returns 404 for another tenant and for an unknown mailbox or domain', async () => {
    await count(box.email, 500)
    await settled()
    for (const [client, path] of [
      [globex, `usage/mailbox/${box.email}`],
      [globex, `quotas/mailbox/${box.email}`],
      [acme, 'usage/mailbox/nobody@acme.test'],
      [acme, 'usage/mailbox/nobody'],
      [admin, 'usage/mailbox/nobody@acme.test'],
    ] as const) {
      const msg = 'Mailbox not found'
      expect(await client.get(`${PATH}/${path}`)).toMatchObject({ status: 404, body: { msg } })
    }
    for (const [client, path] of [
      [globex, 'usage/domain/acme.test'],
      [globex, 'quotas/domain/acme.test'],
      [acme, 'usage/domain/nowhere.test'],
      [admin, 'quotas/domain/nowhere.test'],
    ] as const) {
      const msg = 'Domain not found'
      expect(await client.get(`${PATH}/${path}`)).toMatchObject({ status: 404, body: { msg } })
    }
    expect((await admin.post(`${PATH}/quotas/mailbox/no@acme.test`, { quota_mb: 1 })).status).toBe(
      404,
    )
    expect((await usage(box.email, admin)).status).toBe(200)
  })

  it('is the count of Dovecot, summed up for the domain and the organization', async () => {
    const before = await sums()
    await count(box.email, 500, 3)
    await settled()
    await count(box.email, 400, 2)
    await settled()
    const answer = await usage(box.email.toUpperCase())
    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: {
          success: true,
          entity_type: 'mailbox',
          identifier: box.email,
          usage: {
            used_bytes: 400,
            email_bytes: 400,
            quota_bytes: 1000,
            usage_percentage: 40,
            total_emails: 2,
          },
        },
      },
    })
    expect(answer.body.data.usage.last_calculated_at).toMatch(/Z$/)
    const after = await sums()
    expect(after.total_storage_used - before.total_storage_used).toBe(400)
    expect(after.of_organization - before.of_organization).toBe(400)
    const domain = (await acme.get(`${PATH}/usage/domain/ACME.test`)).body.data
    expect(domain).toMatchObject({
      entity_type: 'domain',
      identifier: 'acme.test',
      usage: { used_bytes: after.total_storage_used, total_emails: after.total_emails },
    })
  })

  it('can be written by a database role with access only to edge.quota_usage', async () => {
    const role = `dovecot_${process.pid}_${Date.now()}`
    const run = (command: string) => sql.raw(command).execute(app.core.db)
    await run(`create role ${role}`)
    await run(`grant usage on schema edge to ${role}`)
    await run(`grant select, insert, update on edge.quota_usage to ${role}`)
    try {
      const written = app.core.db.transaction().execute(async (tx) => {
        await sql.raw(`set local role ${role}`).execute(tx)
        await sql`insert into edge.quota_usage (username, bytes) values (${box.email}, 77)`.execute(
          tx,
        )
      })
      await written
      await waitFor(async () => (await usage(box.email)).body.data?.usage.used_bytes === 77)
      const refused = app.core.db.transaction().execute(async (tx) => {
        await sql.raw(`set local role ${role}`).execute(tx)
        await sql`delete from storage_pending`.execute(tx)
      })
      await expect(refused).rejects.toThrow('permission denied')
    } finally {
      await run(`drop owned by ${role}`)
      await run(`drop role ${role}`)
    }
  })

  it('sums up correctly under concurrent deliveries and mailbox updates', async () => {
    const boxes = await Promise.all(Array.from({ length: 10 }, () => insertMailbox(app, acme)))
    const before = await sums()
    const answers = await Promise.all(
      boxes.flatMap(({ email, path }, index) => [
        ...Array.from({ length: 20 }, async (_, n) => {
          await count(email, (n + 1) * 10 + index)
          return { status: 200 }
        }),
        acme.put(path, { storage_quota: 5000 + index }),
        acme.put(path, { status: 'suspended' }),
        acme.put(path, { status: 'active' }),
      ]),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    await settled()
    const { rows } = await sql<{ bytes: number }>`
      select sum(bytes)::bigint as bytes from edge.quota_usage
      where username = any(${boxes.map(({ email }) => email)}::text[])`.execute(app.core.db)
    const after = await sums()
    expect(after.total_storage_used - before.total_storage_used).toBe(rows[0]?.bytes)
    expect(after.of_organization - before.of_organization).toBe(rows[0]?.bytes)
  })

  it('does not pass from a deleted mailbox to a new one with its address', async () => {
    await count(box.email, 900)
    await settled()
    const before = await sums()
    expect((await acme.delete(box.path)).status).toBe(200)
    expect((await sums()).total_storage_used).toBe(before.total_storage_used - 900)
    await insertMailbox(app, acme, { email: box.email })
    const { rows } =
      await sql`select * from edge.quota_usage where username = ${box.email}`.execute(app.core.db)
    expect(rows).toEqual([])
  })

  it('returns 503 while Dovecot answers with a temporary failure (B5.8)', async () => {
    count(box.email, MIB)
    await settled()
    doveadm.state.mood = 'temporary failure'
    try {
      for (const path of [`mailbox/${box.email}`, 'domain/acme.test']) {
        expect(await acme.get(`${PATH}/usage/${path}?force_calculate=true`)).toMatchObject({
          status: 503,
          body: { error: 'Storage service unavailable' },
        })
      }
    } finally {
      doveadm.state.mood = 'well'
    }
  })

  it('is recalculated with force_calculate, and returns 503 while Dovecot is down', async () => {
    doveadm.status.set(box.email, { messages: 3, vsize: 700 })
    expect((await usage(box.email)).body.data.usage).toMatchObject({ used_bytes: 700 })
    doveadm.status.set(box.email, { messages: 4, vsize: 800 })
    expect((await usage(box.email)).body.data.usage).toMatchObject({ used_bytes: 700 })
    const force = `${PATH}/usage/mailbox/${box.email}?force_calculate=true`
    expect((await acme.get(force)).body.data.usage).toMatchObject({
      used_bytes: 800,
      total_emails: 4,
      calculation_time_ms: expect.any(Number),
    })
    const domain = `${PATH}/usage/domain/acme.test?force_calculate=true`
    doveadm.status.set(box.email, { messages: 5, vsize: 950 })
    expect((await acme.get(domain)).body.data.usage).toMatchObject({ complete: true })
    expect((await usage(box.email)).body.data.usage).toMatchObject({ used_bytes: 950 })
    doveadm.state.mood = 'wrong key'
    for (const path of [force, domain]) {
      expect(await acme.get(path)).toMatchObject({
        status: 503,
        body: { error: 'Storage service unavailable' },
      })
    }
    doveadm.state.mood = 'well'
    expect((await usage(box.email)).body.data.usage).toMatchObject({ used_bytes: 950 })
  })

  it('returns 404 when it was never counted', async () => {
    const alone = await startApp({ database: app.database })
    try {
      const answer = await alone.send('GET', `${PATH}/usage/mailbox/${box.email}`, {
        headers: { 'x-api-key': acme.apiKey },
      })
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Usage data not found' } })
    } finally {
      await alone.stop()
    }
  })
})

describe('the storage summary', () => {
  it('sums up all tenants and lists the largest accounts and domains', async () => {
    const huge = await insertMailbox(app, globex, { storage_quota: 50 * MIB })
    await count(huge.email, 40 * MIB)
    await settled()
    const { status, body } = await admin.get(`${PATH}/usage/summary`)
    expect(status).toBe(200)
    expect(body.data.top_accounts[0]).toEqual({
      email: huge.email,
      storage_used: 40 * MIB,
      storage_quota: 50 * MIB,
    })
    expect(body.data.top_domains[0]).toMatchObject({ domain: 'globex.test' })
    expect(body.data.top_accounts.length).toBeLessThanOrEqual(10)
    expect(body.data.total_storage_used).toBeGreaterThanOrEqual(40 * MIB)
    expect((await acme.get(`${PATH}/usage/summary`)).status).toBe(403)
  })
})

describe('storage reports and cleanup', () => {
  const reports = async (identifier: string) =>
    (await app.core.db.selectFrom('events').selectAll().execute()).filter(
      ({ event, data }) =>
        event === 'storage.usage.report' &&
        (data as { identifier: string }).identifier === identifier,
    )
  const job = reportUsage({ STORAGE_CALC_INTERVAL: 3600 })
  const clean = (body: object) => admin.post(`${PATH}/cleanup`, body)

  it('emit a usage report for a domain only after a change', async () => {
    await count(box.email, 123)
    await settled()
    await job.run(app.core)
    const first = await reports('acme.test')
    expect(first.at(-1)).toMatchObject({
      org_id: acme.organizationId,
      data: { entity_type: 'domain', used_bytes: (await sums()).total_storage_used },
    })
    await job.run(app.core)
    expect(await reports('acme.test')).toHaveLength(first.length)
    app.clock.advance(1000)
    await count(box.email, 124)
    await settled()
    app.clock.advance(1000)
    await job.run(app.core)
    expect(await reports('acme.test')).toHaveLength(first.length + 1)
  })

  it('reject an invalid cleanup request', async () => {
    for (const [body, status] of [
      [{ target: 'inbox' }, 400],
      [{ older_than_days: 0 }, 400],
      [{ days_to_keep: -3 }, 400],
      [{ older_than_days: '30' }, 422],
      [{ dry_run: 'yes' }, 422],
      [{ domain: 'nowhere.test' }, 404],
      [{ delete_mail: true }, 422],
    ] as const) {
      expect((await clean(body)).status, JSON.stringify(body)).toBe(status)
    }
    expect((await acme.post(`${PATH}/cleanup`, {})).status).toBe(403)
  })

  it('count records in a dry run, delete those of one domain otherwise, and never delete mail', async () => {
    const rows = (domain: string) =>
      app.core.db
        .selectFrom('storage_calculations')
        .selectAll()
        .where('domain', '=', domain)
        .execute()
    for (const [tenant, domain] of [
      [acme, 'acme.test'],
      [globex, 'globex.test'],
    ] as const) {
      await app.core.db
        .insertInto('storage_calculations')
        .values({
          organization_id: tenant.organizationId,
          domain,
          used_bytes: 1,
          quota_bytes: null,
          total_emails: 1,
          calculated_at: '2020-01-01T00:00:00Z',
        })
        .execute()
    }
    const before = (await rows('acme.test')).length
    const changes = () =>
      doveadm.asked.flatMap(({ commands }) => commands).filter(([name]) => name !== 'mailboxStatus')
    const asked = changes().length
    const dry = await clean({ domain: 'ACME.test', dry_run: true, days_to_keep: 90 })
    expect(dry).toMatchObject({
      status: 200,
      body: {
        data: {
          success: true,
          dry_run: true,
          target: 'trash',
          domain: 'acme.test',
          older_than_days: 90,
          days_to_keep: 90,
          matched_records: 1,
          cleaned_records: 0,
        },
      },
    })
    expect(await rows('acme.test')).toHaveLength(before)
    const real = await clean({ domain: 'acme.test', older_than_days: 30, days_to_keep: 90 })
    expect(real.body.data).toMatchObject({
      older_than_days: 30,
      matched_records: 1,
      cleaned_records: 1,
    })
    expect(real.body.data.note).toContain('never mail')
    expect(await rows('acme.test')).toHaveLength(before - 1)
    expect((await rows('globex.test')).map(({ used_bytes }) => used_bytes)).toContain(1)
    expect(changes()).toHaveLength(asked)
    const last = (
      await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()
    ).at(-1)
    expect(last).toMatchObject({
      event: 'storage.cleanup',
      org_id: acme.organizationId,
      data: { domain: 'acme.test', target: 'trash', dry_run: false, cleaned_records: 1 },
    })
  })
})
