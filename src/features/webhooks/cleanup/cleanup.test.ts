import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../../../test/support/app.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { deleteOldDeliveries } from '../webhooks.jobs.ts'

let app: App
let service: ReturnType<typeof clientOf>
beforeEach(async () => {
  app = await startApp()
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
})
afterEach(() => app.stop())

const deliveredAgo = (hours: number, delivery_status: 'delivered' | 'failed' = 'delivered') =>
  app.core.db
    .insertInto('webhook_deliveries')
    .values({
      id: ulid(),
      event_id: `${delivery_status} ${hours}`,
      event_type: 'domain.added',
      webhook_url: 'http://hooks.test/',
      delivery_status,
      http_status_code: 200,
      attempts: 1,
      created_at: new Date(app.clock.now().getTime() - hours * HOUR_MS).toISOString(),
    })
    .execute()
const left = async () => {
  const rows = await app.core.db.selectFrom('webhook_deliveries').select('event_id').execute()
  return rows.map(({ event_id }) => event_id).sort()
}
const furnish = async () => {
  for (const hours of [1, 49, 97]) {
    await deliveredAgo(hours)
    await deliveredAgo(hours, 'failed')
  }
}

const DEFAULTS = {
  enabled: true,
  cleanup_interval_hours: 4,
  successful_retention_hours: 24,
  failed_retention_hours: 72,
  auto_delete_successful: true,
  cleanup_batch_size: 1000,
}

describe('the webhook clean-up', () => {
  it('rejects invalid settings and changes nothing', async () => {
    expect(await service.put('/cleanup/config', {})).toMatchObject({ status: 400 })
    expect(await service.put('/cleanup/config', { unknown: 1 })).toMatchObject({
      status: 400,
      body: { error: 'No valid fields to update' },
    })
    for (const wrong of [
      { cleanup_interval_hours: 0 },
      { cleanup_batch_size: -1 },
      { failed_retention_hours: 1e9 },
      { successful_retention_hours: 1.5 },
      { enabled: 'no' },
    ]) {
      expect((await service.put('/cleanup/config', wrong)).status).toBe(422)
    }
    expect((await service.get('/cleanup/config')).body).toEqual(DEFAULTS)
  })

  it('keeps changed settings for every process and after a restart', async () => {
    const changed = { ...DEFAULTS, enabled: false, cleanup_interval_hours: 12 }
    const answer = await service.put('/cleanup/config', {
      enabled: false,
      cleanup_interval_hours: 12,
    })
    expect(answer).toMatchObject({ status: 200, body: changed })
    const other = await startApp({
      database: app.database,
      env: { WEBHOOK_CLEANUP_ENABLED: 'true' },
    })
    const { body } = await clientOf(other, { 'x-internal-token': INTERNAL_TOKEN }).get(
      '/cleanup/config',
    )
    await other.stop()
    expect(body).toEqual(changed)
  })

  it('deletes old records at once and returns the counts', async () => {
    await furnish()
    expect((await service.get('/cleanup/stats')).body).toEqual({
      total_deliveries: 6,
      by_status: { delivered: 3, failed: 3 },
      expired_deliveries: 3,
      last_cleanup: { begun_at: null, finished_at: null, deleted_deliveries: 0, deleted_events: 0 },
    })
    expect((await service.post('/cleanup/now')).body).toEqual({
      status: 'success',
      message: 'Cleanup finished',
      deleted_deliveries: 3,
      deleted_events: 0,
    })
    expect(await left()).toEqual(['delivered 1', 'failed 1', 'failed 49'])
    expect((await service.get('/cleanup/stats')).body).toMatchObject({
      total_deliveries: 3,
      expired_deliveries: 0,
      last_cleanup: { finished_at: expect.any(String), deleted_deliveries: 3 },
    })
  })

  it('repeats small batches until no old record is left', async () => {
    await furnish()
    await service.put('/cleanup/config', { cleanup_batch_size: 1 })
    expect((await service.post('/cleanup/now')).body.deleted_deliveries).toBe(3)
  })

  it('keeps successful deliveries when auto_delete_successful is false', async () => {
    await furnish()
    await service.put('/cleanup/config', { auto_delete_successful: false })
    await service.post('/cleanup/now')
    expect(await left()).toEqual([
      'delivered 1',
      'delivered 49',
      'delivered 97',
      'failed 1',
      'failed 49',
    ])
  })

  it('runs at the configured interval, and not while it is disabled', async () => {
    await furnish()
    await service.put('/cleanup/config', { enabled: false })
    await deleteOldDeliveries.run(app.core)
    expect(await left()).toHaveLength(6)

    await service.put('/cleanup/config', { enabled: true, cleanup_interval_hours: 2 })
    await deleteOldDeliveries.run(app.core)
    expect(await left()).toHaveLength(3)

    await deliveredAgo(100)
    app.clock.advance(HOUR_MS)
    await deleteOldDeliveries.run(app.core)
    expect(await left()).toHaveLength(4)
    app.clock.advance(HOUR_MS)
    await deleteOldDeliveries.run(app.core)
    expect(await left()).toHaveLength(3)
  })
})

it('deletes ended dead letters like failures, and waiting ones after their own time (B5.2)', async () => {
  const bury = (event_id: string, hours: number, status: 'pending' | 'resolved') => {
    const at = new Date(app.clock.now().getTime() - hours * HOUR_MS).toISOString()
    return app.core.db
      .insertInto('webhook_dead_letters')
      .values({
        event_id,
        status,
        event_type: 'domain.added',
        endpoint_url: 'http://hooks.test/',
        last_error: 'Timeout',
        attempt_count: 8,
        payload: {},
        created_at: at,
        ...(status === 'resolved' && { resolved_at: at }),
      })
      .execute()
  }
  await bury('resolved lately', 71, 'resolved')
  await bury('resolved long ago', 73, 'resolved')
  await bury('waiting', 89 * 24, 'pending')
  await bury('waiting for too long', 91 * 24, 'pending')
  await deleteOldDeliveries.run(app.core)
  const rows = await app.core.db.selectFrom('webhook_dead_letters').select('event_id').execute()
  expect(rows.map(({ event_id }) => event_id).sort()).toEqual(['resolved lately', 'waiting'])
})

it('keeps what tenants see as activity for longer than other events', async () => {
  const { organizationId: org_id } = await app.tenant('acme')
  const emit = (hours: number, event: string, of: string | null = org_id) =>
    app.core.db
      .insertInto('events')
      .values({
        id: `${event} ${hours}`,
        event,
        source: 'test',
        org_id: of,
        data: {},
        created_at: new Date(app.clock.now().getTime() - hours * HOUR_MS).toISOString(),
      })
      .execute()
  for (const hours of [71, 97, 92 * 24]) {
    await emit(hours, 'mailbox.created')
    await emit(hours, 'email.delivered')
    await emit(hours, 'health.service.down', null)
  }
  expect((await service.post('/cleanup/now')).body.deleted_events).toBe(5)
  const rows = await app.core.db.selectFrom('events').select('id').orderBy('id').execute()
  expect(rows.map(({ id }) => id)).toEqual([
    'email.delivered 71',
    'health.service.down 71',
    'mailbox.created 71',
    'mailbox.created 97',
  ])
})
