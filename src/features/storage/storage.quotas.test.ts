import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'
import { insertMailbox } from '../../../test/support/mailboxes.ts'
import {
  countUsage,
  MIB,
  PATH,
  type StorageApp,
  startStorageApp,
  storage,
  usageIsSummedUp,
} from '../../../test/support/storage.ts'
import { waitFor } from '../../../test/support/wait.ts'

let app: StorageApp['app']
let doveadm: StorageApp['doveadm']
let acme: StorageApp['acme']
let admin: StorageApp['admin']
let stop: StorageApp['stop']
beforeAll(async () => {
  ;({ app, doveadm, acme, admin, stop } = await startStorageApp())
})
afterAll(() => stop())
let box: Awaited<ReturnType<typeof insertMailbox>>
beforeEach(async () => {
  box = await insertMailbox(app, acme, { storage_quota: 1000 })
})

const count = (email: string, bytes: number, messages = 1) =>
  countUsage(app, email, bytes, messages)
const settled = () => usageIsSummedUp(app)
const alerts = async (identifier: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ event }) => event.startsWith('storage.quota.'))
    .filter(({ data }) => (data as { identifier: string }).identifier === identifier)

describe('storage alerts', () => {
  it('are emitted once for each crossed threshold', async () => {
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

  it('are emitted after a quota is lowered and for a threshold of the mailbox', async () => {
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

  it('are emitted for a full domain whose mailboxes are not full', async () => {
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

  it('are emitted once when two processes run', async () => {
    const other = await startApp({ database: app.database, daemons: [storage] })
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

describe('storage quotas', () => {
  it('reject invalid values and a caller without the operator role', async () => {
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

  it('are inherited, take effect at once and flush the cache of Dovecot', async () => {
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

  it('set by an operator override the tenant until they are set with force', async () => {
    await admin.post(`${PATH}/quotas/mailbox/${box.email}`, { quota_mb: 7 })
    expect((await acme.put(`${box.path}/quotas`, { storage_quota: 5 })).status).toBe(409)
    await admin.post(`${PATH}/quotas/mailbox/${box.email}?force=true`, { quota_mb: 6 })
    expect((await acme.put(`${box.path}/quotas`, { storage_quota: 5 })).status).toBe(200)
  })

  it('set for a domain apply to mailboxes without their own quota and to new ones', async () => {
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
