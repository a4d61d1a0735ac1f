import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../../test/support/doveadm.ts'
import { insertMailbox } from '../../../test/support/mailboxes.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { reportUsage } from './usage/usage.jobs.ts'

const PATH = '/api/v1/storage'
const MIB = 1024 ** 2

let app: App
let doveadm: Doveadm
type Tenant = Awaited<ReturnType<App['tenant']>>
let acme: Tenant
let globex: Tenant
let admin: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  doveadm = await startDoveadm('key')
  app = await startApp({ env: { DOVEADM_URL: doveadm.url, DOVEADM_API_KEY: 'key' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  admin = await app.operator('admin')
})
afterAll(async () => {
  await app.stop()
  await doveadm.stop()
})
let box: Awaited<ReturnType<typeof insertMailbox>>
beforeEach(async () => {
  box = await insertMailbox(app, acme, { storage_quota: 1000 })
})

/** As Dovecot does. */
const count = (email: string, bytes: number, messages = 1) =>
  sql`insert into edge.quota_usage (username, bytes, messages) values (${email}, ${bytes}, ${messages})
    on conflict (username) do update set bytes = excluded.bytes, messages = excluded.messages`.execute(
    app.core.db,
  )
const marks = async () =>
  (await app.core.db.selectFrom('storage_pending').selectAll().execute()).length
const settled = () => waitFor(async () => (await marks()) === 0)
const usage = async (email: string, client: Pick<Tenant, 'get'> = acme) =>
  client.get(`${PATH}/usage/mailbox/${email}`)
const alerts = async (identifier: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ event }) => event.startsWith('storage.quota.'))
    .filter(({ data }) => (data as { identifier: string }).identifier === identifier)
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

describe('usage', () => {
  it("is not there for another tenant's, nor for what is no mailbox or domain", async () => {
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

  it('is what Dovecot counted, summed up in the domain and the organization', async () => {
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

  it('can be written by a login that may write nothing else', async () => {
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

  it('adds up under many deliveries at once, while quotas and states are changed', async () => {
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

  it('of a mailbox that is gone is not that of the next one at its address', async () => {
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

  it('is counted anew on demand; while Dovecot is away, that is said', async () => {
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

  it('that nobody has counted is not made up', async () => {
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

describe('alerts', () => {
  it('are told once per crossing, in the words of the events', async () => {
    for (const bytes of [790, 800, 810, 940, 950, 990, 1000, 1001]) {
      await count(box.email, bytes)
      await settled()
    }
    const told = await alerts(box.email)
    expect(told.map(({ event }) => event)).toEqual([
      'storage.quota.warning',
      'storage.quota.exceeded',
    ])
    expect(told[0]).toMatchObject({
      source: 'storage_usage',
      org_id: acme.organizationId,
      domain: 'acme.test',
      data: {
        entity_type: 'mailbox',
        identifier: box.email,
        storage_type: 'mailbox',
        current_usage: 800,
        quota_limit: 1000,
        usage_percentage: 80,
        threshold_percent: 80,
        alert_level: 'warning',
      },
    })
    expect(told[1]?.data).toMatchObject({ current_usage: 950, alert_level: 'critical' })
  })

  it('follow a quota that is lowered under what is there, and a threshold of its own', async () => {
    await count(box.email, 700)
    await settled()
    expect(await alerts(box.email)).toEqual([])
    await acme.put(box.path, { storage_quota: 720 })
    await waitFor(async () => (await alerts(box.email)).length === 1)
    expect((await alerts(box.email))[0]).toMatchObject({ event: 'storage.quota.exceeded' })
    const other = await insertMailbox(app, acme, { storage_quota: 10 * MIB })
    await count(other.email, 6 * MIB)
    await settled()
    await admin.post(`${PATH}/quotas/mailbox/${other.email}`, { warning_threshold_percent: 60 })
    await waitFor(async () => (await alerts(other.email)).length === 1)
    expect((await alerts(other.email))[0]?.data).toMatchObject({ threshold_percent: 60 })
  })

  it('come for a domain as a whole, also when none of its mailboxes is full', async () => {
    const hooli = await app.tenant('hooli')
    await app.core.db
      .updateTable('domains')
      .set({ max_quota: 1000 })
      .where('id', '=', hooli.domainId)
      .execute()
    const boxes = await Promise.all(
      [1, 2].map(() => insertMailbox(app, hooli, { storage_quota: 900 })),
    )
    for (const { email } of boxes) await count(email, 450)
    await settled()
    const told = await alerts('hooli.test')
    expect(told.at(-1)).toMatchObject({
      event: 'storage.quota.warning',
      data: { entity_type: 'domain', storage_type: 'total', current_usage: 900, quota_limit: 1000 },
    })
    expect(told).toHaveLength(1)
    for (const { email } of boxes) expect(await alerts(email)).toEqual([])
  })

  it('are told by one of two processes', async () => {
    const other = await startApp({ database: app.database })
    try {
      const boxes = await Promise.all(
        Array.from({ length: 20 }, () => insertMailbox(app, acme, { storage_quota: 100 })),
      )
      await Promise.all(boxes.map(({ email }) => count(email, 85)))
      await settled()
      for (const { email } of boxes) expect(await alerts(email)).toHaveLength(1)
    } finally {
      await other.stop()
    }
  })
})

describe('quotas', () => {
  it('refuse what is no quota', async () => {
    for (const [path, body, status] of [
      [`mailbox/${box.email}`, { quota_mb: '5' }, 422],
      [`mailbox/${box.email}`, { quota_mb: 0 }, 422],
      [`mailbox/${box.email}`, { quota_mb: 9e15 }, 422],
      [`mailbox/${box.email}`, { warning_threshold_percent: 101 }, 422],
      [`mailbox/${box.email}`, {}, 400],
      ['domain/acme.test', { domain_quota_mb: -1 }, 422],
      ['domain/acme.test', { default_mailbox_quota_mb: 1.5 }, 422],
      ['domain/acme.test', {}, 400],
    ] as const) {
      expect((await admin.post(`${PATH}/quotas/${path}`, body)).status, path).toBe(status)
    }
    expect((await acme.post(`${PATH}/quotas/mailbox/${box.email}`, { quota_mb: 1 })).status).toBe(
      403,
    )
  })

  it('are inherited, shown at once, and told to Dovecot at once', async () => {
    const read = async () =>
      (await acme.get(`${PATH}/quotas/mailbox/${box.email}`)).body.data.quota_configuration
    expect(await read()).toEqual({
      total_storage_limit: 1000,
      attachment_storage_limit: 5368709120,
      max_file_size: 26214400,
      max_attachment_size: 26214400,
      max_email_size: 52428800,
      enforce_limits: true,
      warning_threshold: 80,
      critical_threshold: 95,
      allowed_file_types: null,
      blocked_file_types: null,
    })
    const flushed = doveadm.flushed().length
    const answer = await admin.post(`${PATH}/quotas/mailbox/${box.email}`, { quota_mb: 7 })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: {
          success: true,
          identifier: box.email,
          quota_configuration: { total_storage_limit: 7 * MIB, warning_threshold: 80 },
          quota_override: true,
          cache_flushed: true,
        },
      },
    })
    expect(doveadm.flushed().slice(flushed)).toEqual([box.email])
    await admin.post(`${PATH}/quotas/mailbox/${box.email}`, { warning_threshold_percent: 70 })
    expect(await read()).toMatchObject({ total_storage_limit: 7 * MIB, warning_threshold: 70 })
  })

  it("that an operator has set stand against the tenant's, until force lets go", async () => {
    await admin.post(`${PATH}/quotas/mailbox/${box.email}`, { quota_mb: 7 })
    expect((await acme.put(`${box.path}/quotas`, { storage_quota: 5 })).status).toBe(409)
    await admin.post(`${PATH}/quotas/mailbox/${box.email}?force=true`, { quota_mb: 6 })
    expect((await acme.put(`${box.path}/quotas`, { storage_quota: 5 })).status).toBe(200)
  })

  it('of a domain reach the mailboxes without one of their own, and new ones', async () => {
    const pied = await app.tenant('pied')
    const bare = await insertMailbox(app, pied, { storage_quota: 0 })
    const own = await insertMailbox(app, pied, { storage_quota: 5 * MIB })
    const flushed = doveadm.flushed().length
    const answer = await admin.post(`${PATH}/quotas/domain/pied.test`, {
      domain_quota_mb: 4000,
      default_mailbox_quota_mb: 33,
      warning_threshold_percent: 50,
    })
    expect(answer.body.data).toMatchObject({
      quota_configuration: { total_storage_limit: 4000 * MIB, warning_threshold: 50 },
      default_mailbox_quota_mb: 33,
      quota_override: true,
      cache_flushed: true,
    })
    const told = doveadm.flushed().slice(flushed)
    expect(told).toContain(bare.email)
    expect(told).not.toContain(own.email)
    const read = async (email: string) =>
      (await pied.get(`${PATH}/quotas/mailbox/${email}`)).body.data.quota_configuration
    expect(await read(bare.email)).toMatchObject({
      total_storage_limit: 4000 * MIB,
      warning_threshold: 50,
    })
    const created = await pied.post('/api/v1/mailboxes/email-accounts', {
      email: 'new@pied.test',
      password: 'a-long-passphrase-77',
    })
    expect(created.body.data.storage_quota).toBe(33 * MIB)
    await admin.post(`${PATH}/quotas/domain/pied.test`, { warning_threshold_percent: 60 })
    expect((await pied.get(`${PATH}/quotas/domain/pied.test`)).body.data).toMatchObject({
      quota_configuration: { total_storage_limit: 4000 * MIB, warning_threshold: 60 },
      default_mailbox_quota_mb: 33,
    })
    expect(
      (await admin.post(`${PATH}/quotas/domain/pied.test`, { domain_quota_mb: 1 })).status,
    ).toBe(400)
  })
})

describe('the summary', () => {
  it('adds up all tenants, and names the fullest', async () => {
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

describe('reports and cleanup', () => {
  const reports = async (identifier: string) =>
    (await app.core.db.selectFrom('events').selectAll().execute()).filter(
      ({ event, data }) =>
        event === 'storage.usage.report' &&
        (data as { identifier: string }).identifier === identifier,
    )
  const job = reportUsage({ STORAGE_CALC_INTERVAL: 3600 })
  const clean = (body: object) => admin.post(`${PATH}/cleanup`, body)

  it('reports a domain after a change, and only then', async () => {
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

  it('refuses what it cannot mean', async () => {
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

  it('counts on a dry run, removes old records of one domain on a real one, and never mail', async () => {
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
