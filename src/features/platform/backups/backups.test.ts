import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { failUnfinished } from './backups.repository.ts'

const BACKUPS = '/api/v1/platform/backups'
let app: App
let admin: Awaited<ReturnType<App['operator']>>

beforeAll(async () => {
  app = await startApp({ env: { BACKUP_SCHEDULE: '0 3 * * *' } })
  admin = await app.operator('admin')
})
afterAll(() => app.stop())

const report = async (body: object) => {
  const answer = await admin.post(`${BACKUPS}/report`, body)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Backup run recorded' } })
  return answer.body.data as { id: number; backup_id: string }
}
const list = async (query = '') => {
  const answer = await admin.get(`${BACKUPS}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Backup runs retrieved' } })
  return answer.body.data as { items: Record<string, unknown>[]; pagination: { total: number } }
}
const status = async () => (await admin.get(`${BACKUPS}/status`)).body.data
const TIME = expect.stringMatching(/^2\d{3}-.*Z$/)

describe('backups', () => {
  it('explains in the notes how to make the first backup', async () => {
    expect(await status()).toMatchObject({
      last_success_at: null,
      last_failure_at: null,
      schedule: '0 3 * * *',
      retention_days: null,
      total_size_bytes: 0,
      total_runs: 0,
      runs: [],
      hosts: [],
    })
    expect((await status()).notes.join(' ')).toMatch(/mailplane backup.*BACKUP_RETENTION_DAYS/)
  })

  it.each([
    [{ hostname: 'mail1', status: 'running' }],
    [{ backup_id: 'x'.repeat(33), hostname: 'mail1', status: 'running' }],
    [{ backup_id: 'b', hostname: '', status: 'running' }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'paused' }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'running', target: 'everything' }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'running', backup_type: 'half' }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'running', size_bytes: -1 }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'running', size_bytes: '12' }],
    [{ backup_id: 'b', hostname: 'mail1', status: 'running', checksum: 'x'.repeat(129) }],
  ])('rejects the report %j with 422', async (body) => {
    expect((await admin.post(`${BACKUPS}/report`, body)).status).toBe(422)
    expect((await list()).pagination.total).toBe(0)
  })

  it('ends a run by a later report and sets finished_at only then', async () => {
    const run = { backup_id: '20261115T100000Z', hostname: 'mail1' }
    const started = await report({ ...run, status: 'running' })
    const [before] = (await list()).items
    expect((await list()).items).toEqual([
      {
        id: started.id,
        ...run,
        started_at: TIME,
        finished_at: null,
        status: 'running',
        size_bytes: 0,
        target: 'all',
        backup_type: 'full',
        storage_path: null,
        checksum: null,
        encrypted: true,
        error: null,
      },
    ])
    app.clock.advance(5 * MINUTE_MS)
    const done = { status: 'completed', size_bytes: 4096, storage_path: '/b', checksum: 'abc' }
    expect(await report({ ...run, ...done })).toEqual(started)
    const { items } = await list()
    expect(items).toMatchObject([{ id: started.id, ...done, started_at: before?.started_at }])
    const { started_at, finished_at } = items[0] as { started_at: string; finished_at: string }
    expect(Date.parse(finished_at) - Date.parse(started_at)).toBeGreaterThanOrEqual(5 * MINUTE_MS)
  })

  it('reports the status per host and marks hosts without a recent backup as stale', async () => {
    const run = { backup_id: '20261115T100000Z', hostname: 'mail2', target: 'mail' }
    await report({ ...run, status: 'failed', encrypted: false, error_message: 'disk full' })
    const now = await status()
    expect(now).toMatchObject({
      last_success_at: TIME,
      last_failure_at: TIME,
      total_size_bytes: 4096,
      total_runs: 2,
      running: 0,
      hosts: [
        { hostname: 'mail1', unencrypted_runs: 0, stale: false },
        { hostname: 'mail2', last_success_at: null, unencrypted_runs: 1, stale: true },
      ],
    })
    expect(now.notes.join(' ')).toMatch(/mail2 has completed no backup.*mail2 has 1 unencrypted/)
    app.clock.advance(27 * HOUR_MS)
    admin = await app.operator('admin')
    expect((await status()).hosts[0]).toMatchObject({ hostname: 'mail1', stale: true })
  })

  it.each([
    ['status=failed', ['mail2']],
    ['target=all', ['mail1']],
    ['backup_type=incremental', []],
    ['sort=id&direction=asc', ['mail1', 'mail2']],
    ['sort=id', ['mail2', 'mail1']],
    ['per_page=1&sort=completed_at&direction=asc', ['mail1']],
  ])('lists the expected runs for %s', async (query, hosts) => {
    expect((await list(query)).items.map(({ hostname }) => hostname)).toEqual(hosts)
  })

  it.each(['status=done', 'target=x', 'backup_type=x', 'sort=size', 'direction=up', 'page=0'])(
    'rejects the list query %s with 422',
    async (query) => {
      expect((await admin.get(`${BACKUPS}?${query}`)).status).toBe(422)
    },
  )

  it('marks an unfinished run as failed when the next run of its host starts', async () => {
    const run = { backup_id: 'died', target: 'database', status: 'running' }
    await report({ ...run, hostname: 'mail3' })
    await report({ ...run, hostname: 'mail4' })
    await failUnfinished(app.core.db, 'mail3', app.clock.now())
    const failed = (await list('status=failed&target=database')).items
    expect(failed).toMatchObject([{ hostname: 'mail3', finished_at: TIME }])
    expect(failed[0]?.error).toContain('ended without a word')
    expect((await list('status=running')).items).toMatchObject([{ hostname: 'mail4' }])
  })

  it('returns 403 below the role admin', async () => {
    const operator = await app.operator('operator')
    for (const path of ['', '/status']) {
      expect((await operator.get(`${BACKUPS}${path}`)).status).toBe(403)
    }
    expect((await operator.post(`${BACKUPS}/report`, {})).status).toBe(403)
  })
})

it('does not reopen an ended run by a late report, and forgets a host on request (B5.9)', async () => {
  const run = { backup_id: 'late', hostname: 'mail-typo' }
  const { id } = await report({ ...run, status: 'completed', size_bytes: 9 })
  expect((await report({ ...run, status: 'running' })).id).toBe(id)
  const of = async () => (await list('per_page=100')).items.filter((one) => one.id === id)
  expect(await of()).toMatchObject([{ status: 'completed', size_bytes: 9, finished_at: TIME }])

  const path = `${BACKUPS}/hosts/mail-typo`
  const support = await app.operator('operator')
  const reason = { reason: 'the name was mistyped' }
  expect((await support.delete(path, reason)).status).toBe(403)
  expect((await admin.delete(path, {})).status).toBe(422)
  expect(await admin.delete(path, reason)).toMatchObject({
    status: 200,
    body: { data: { hostname: 'mail-typo', removed_runs: 1 } },
  })
  expect(await of()).toEqual([])
  const { hosts } = await status()
  expect(hosts.map((host: { hostname: string }) => host.hostname)).not.toContain('mail-typo')
  expect((await admin.delete(path, reason)).status).toBe(404)
})
