import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../test/support/app.ts'
import {
  exporting,
  importing,
  PATH,
  passwords,
  settleJob,
  startImport,
  storeFailure,
} from '../../../test/support/migration-jobs.ts'
import { newLease } from '../../jobs/lease.ts'
import { ulid } from '../../lib/ulid.ts'
import { claim, release } from './copy/claims.repository.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const started = (client: Client = acme, body = importing()) => startImport(client, body)
const settle = (id: string, status: string, more: object = {}) => settleJob(app, id, status, more)
const failed = (id: string, uid: string, more: object = {}) => storeFailure(app, id, uid, more)

describe('starting a migration job', () => {
  it.each([
    ['import', importing({ source_host: undefined }), 'source_host'],
    ['import', importing({ source_password: undefined }), 'source_password'],
    ['import', importing({ target_password: undefined }), 'target_password'],
    ['import', importing({ source_port: 70_000 }), 'source_port'],
    ['import', importing({ source_host: 'imap://example.com' }), 'source_host'],
    ['import', importing({ source_host: '127.0.0.1' }), 'source_host'],
    ['import', importing({ source_host: '[::1]' }), 'source_host'],
    ['import', importing({ source_host: 'localhost' }), 'source_host'],
    ['import', importing({ source_username: 'jane\r\nA LOGOUT' }), 'source_username'],
    ['import', importing({ webhook_url: 'http://169.254.169.254/' }), 'webhook_url'],
    ['import', importing({ webhook_url: 'ftp://example.com/' }), 'webhook_url'],
    ['export', exporting({ target_username: undefined }), 'target_username'],
    ['export', exporting({ target_password: undefined }), 'target_password'],
    ['export', exporting({ target_host: '10.0.0.1' }), 'target_host'],
  ])('%s rejects an invalid field and names it: case %#', async (kind, body, field) => {
    const { status, body: answer } = await acme.post(`${PATH}/${kind}`, body)
    expect(status).toBe(422)
    expect(answer.detail[0].loc).toEqual(['body', field])
  })

  it("returns 404 for another organization's mailbox and for an unknown one", async () => {
    for (const email of ['admin@globex.test', 'nobody@acme.test', 'not an address']) {
      const answer = await acme.post(`${PATH}/import`, importing({ target_email: email }))
      expect(answer).toMatchObject({ status: 404, body: { msg: `Mailbox ${email} not found` } })
      const other = await acme.post(`${PATH}/export`, exporting({ source_email: email }))
      expect(other.status).toBe(404)
    }
  })

  it('returns a pending job for both directions', async () => {
    const first = await acme.post(`${PATH}/import`, importing())
    expect(first).toMatchObject({
      status: 201,
      body: {
        success: true,
        direction: 'import',
        status: 'pending',
        message: 'Import job started',
        timestamp: TIME,
      },
    })
    const second = await acme.post(`${PATH}/export`, exporting())
    expect(second.body).toMatchObject({ direction: 'export', message: 'Export job started' })
    const { job } = (await acme.get(`${PATH}/jobs/${second.body.job_id}`)).body
    expect(job).toMatchObject({
      source_username: 'admin@acme.test',
      target_email: 'jane@new.example',
      status: 'pending',
      is_delta: false,
      is_retry: false,
      parent_job_id: null,
      started_at: null,
      completed_at: null,
    })
  })

  it('stores passwords encrypted and never returns them', async () => {
    const token = { source_password: 'ya29.token', source_auth: 'oauth2' }
    const id = await started(acme, importing(token))
    const { rows } = await sql<{ row: string }>`
      select migration_jobs::text || encode(credentials, 'escape') as row
      from migration_jobs where id = ${id}`.execute(app.core.db)
    expect(rows[0]?.row).not.toMatch(/secret of|ya29/)
    expect((await acme.get(`${PATH}/jobs/${id}`)).text).not.toMatch(/secret of|ya29|credentials/)
  })
})

describe('starting many migration jobs', () => {
  const account = { ...importing(), target_email: 'admin@acme.test' }

  it('starts one job for each account with the shared settings', async () => {
    const shared = { exclude_folders: ['Junk'], webhook_url: 'https://hooks.example.com/' }
    const accounts = [account, { ...account, source_username: 'b', exclude_folders: ['Trash'] }]
    const { status, body } = await acme.post(`${PATH}/import/bulk`, { accounts, ...shared })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      success: true,
      direction: 'import',
      total_jobs: 2,
      message: '2 import jobs started',
      jobs: [{ target_email: 'admin@acme.test' }, { target_email: 'admin@acme.test' }],
    })
    const rows = await app.core.db
      .selectFrom('migration_jobs')
      .select(['exclude_folders', 'webhook_url'])
      .where(
        'id',
        'in',
        body.jobs.map(({ job_id }: { job_id: string }) => job_id),
      )
      .orderBy('id')
      .execute()
    expect(rows).toEqual([
      { exclude_folders: ['Junk'], webhook_url: 'https://hooks.example.com/' },
      { exclude_folders: ['Trash'], webhook_url: 'https://hooks.example.com/' },
    ])
  })

  it('starts no job when one account is invalid', async () => {
    const count = async () => (await acme.get(`${PATH}/summary`)).body.summary.total_jobs
    const before = await count()
    const foreign = { ...account, target_email: 'admin@globex.test' }
    const wrong = await acme.post(`${PATH}/import/bulk`, { accounts: [account, foreign] })
    expect(wrong.status).toBe(404)
    const hostile = { ...account, source_host: '127.0.0.1' }
    const refused = await acme.post(`${PATH}/import/bulk`, { accounts: [account, hostile] })
    expect(refused.body.detail[0].loc).toEqual(['body', 'accounts', 1, 'source_host'])
    expect((await acme.post(`${PATH}/import/bulk`, { accounts: [] })).status).toBe(422)
    expect(await count()).toBe(before)
  })

  it('starts export jobs for many accounts', async () => {
    const { body } = await acme.post(`${PATH}/export/bulk`, { accounts: [exporting()] })
    expect(body).toMatchObject({ total_jobs: 1, jobs: [{ target_email: 'jane@new.example' }] })
  })
})

describe('migration lists and summary', () => {
  it('return only jobs of the organization of the caller', async () => {
    const id = await started()
    expect((await globex.get(`${PATH}/jobs`)).body).toMatchObject({ total: 0, jobs: [] })
    expect((await globex.get(`${PATH}/jobs/${id}`)).status).toBe(404)
    expect((await globex.get(`${PATH}/jobs/${id}/errors`)).status).toBe(404)
    for (const action of ['cancel', 'retry-failed', 'delta']) {
      const answer = await globex.post(`${PATH}/jobs/${id}/${action}`, passwords)
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Migration job not found' } })
    }
    const { summary, org_id } = (await globex.get(`${PATH}/summary`)).body
    expect(org_id).toBe(globex.organizationId)
    expect(summary).toMatchObject({ total_jobs: 0, avg_speed: 0, first_job_at: null })
  })

  it('filter by status and direction and return pages', async () => {
    const tenant = await app.tenant(`lists-${ulid().toLowerCase()}`)
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      ids.push(await started(tenant, importing({ target_email: tenant.email })))
    }
    await settle(ids[0] ?? '', 'completed')
    const get = async (query: string) => (await tenant.get(`${PATH}/jobs${query}`)).body
    expect(await get('?status=completed')).toMatchObject({ total: 1, jobs: [{ job_id: ids[0] }] })
    expect(await get('?direction=export')).toMatchObject({ total: 0, jobs: [] })
    expect(await get('?page=2&per_page=2')).toMatchObject({
      success: true,
      total: 3,
      page: 2,
      per_page: 2,
      jobs: [{ job_id: ids[0] }],
    })
    for (const query of ['?per_page=201', '?per_page=0', '?page=0', '?status=paused']) {
      expect((await tenant.get(`${PATH}/jobs${query}`)).status).toBe(422)
    }
  })

  it('return the sums of all jobs and the recent errors', async () => {
    const tenant = await app.tenant(`sums-${ulid().toLowerCase()}`)
    const body = importing({ target_email: tenant.email })
    const [done, broken] = [await started(tenant, body), await started(tenant, body)]
    const counts = { total_messages: 10, migrated_messages: 9, failed_messages: 1, speed: 4 }
    await settle(done, 'completed', counts)
    await settle(broken, 'failed', { speed: 2 })
    await failed(done, '7')
    const answer = (await tenant.get(`${PATH}/summary`)).body
    expect(answer).toEqual({
      success: true,
      org_id: tenant.organizationId,
      summary: {
        total_jobs: 2,
        completed_jobs: 1,
        running_jobs: 0,
        failed_jobs: 1,
        pending_jobs: 0,
        cancelled_jobs: 0,
        total_messages: 10,
        total_migrated: 9,
        total_failed: 1,
        avg_speed: 3,
        import_jobs: 2,
        export_jobs: 0,
        first_job_at: TIME,
        last_activity_at: TIME,
      },
      recent_errors: [expect.objectContaining({ job_id: done, message_uid: '7' })],
      timestamp: TIME,
    })
    const { errors, ...rest } = (await tenant.get(`${PATH}/jobs/${done}/errors`)).body
    expect(rest).toMatchObject({ success: true, job_id: done, total: 1, page: 1, per_page: 50 })
    expect(errors).toEqual([
      {
        folder: 'INBOX',
        message_uid: '7',
        message_id: '',
        error_type: 'append_refused',
        error_message: 'NO message too large',
        retryable: true,
        retried: false,
        created_at: TIME,
      },
    ])
  })
})

describe('cancelling a migration job', () => {
  it('ends a pending job, deletes its passwords and emits an event', async () => {
    const id = await started()
    expect((await acme.post(`${PATH}/jobs/${id}/cancel`)).body).toMatchObject({
      success: true,
      job_id: id,
      status: 'cancelled',
    })
    const row = await app.core.db
      .selectFrom('migration_jobs')
      .select(['status', 'credentials', 'completed_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ status: 'cancelled', credentials: null, completed_at: TIME })
    const event = await app.core.db
      .selectFrom('events')
      .select(['event', 'org_id', 'source'])
      .where(sql<string>`data->>'job_id'`, '=', id)
      .execute()
    expect(event).toEqual([
      { event: 'migration.cancelled', org_id: acme.organizationId, source: 'migration' },
    ])
  })

  it.each(['completed', 'failed', 'cancelled'])('rejects a job that is %s', async (status) => {
    const id = await started()
    await settle(id, status)
    expect((await acme.post(`${PATH}/jobs/${id}/cancel`)).status).toBe(409)
  })
})

describe('a cancelled job', () => {
  it('is never claimed, also not while its cancellation commits (B6.1)', async () => {
    const lease = newLease(15)
    for (let round = 0; round < 12; round++) {
      const id = await started()
      const claiming = (async () => {
        for (let found = await claim(app.core.db, { lease, jobsPerHost: 1000 }); found; ) {
          if (found.id === id) return found.status
          found = await claim(app.core.db, { lease, jobsPerHost: 1000 })
        }
        return 'not claimed'
      })()
      const [seen, answer] = await Promise.all([claiming, acme.post(`${PATH}/jobs/${id}/cancel`)])
      expect(answer.status).toBe(200)
      expect(['running', 'not claimed']).toContain(seen)
      expect((await acme.get(`${PATH}/jobs/${id}`)).body.job.status).toBe('cancelled')
      await release(app.core.db, id, lease)
      expect((await claim(app.core.db, { lease, jobsPerHost: 1000 }))?.id).not.toBe(id)
    }
  })
})

describe('deleting an organization', () => {
  it('cancels its migration jobs and deletes their passwords', async () => {
    const tenant = await app.tenant(`gone-${ulid().toLowerCase()}`)
    const id = await started(tenant, importing({ target_email: tenant.email }))
    for (const table of ['email_accounts', 'domains'] as const) {
      const mine = app.core.db.deleteFrom(table)
      await mine.where('organization_id', '=', tenant.organizationId).execute()
    }
    await app.core.db.deleteFrom('organizations').where('id', '=', tenant.organizationId).execute()
    const row = await app.core.db
      .selectFrom('migration_jobs')
      .select(['organization_id', 'status', 'credentials'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ organization_id: null, status: 'cancelled', credentials: null })
  })
})

it('offers no migration in the community edition', async () => {
  const community = await startApp({ env: { SVC_EDITION: 'community' } })
  try {
    const tenant = await community.tenant('acme')
    expect((await tenant.get(`${PATH}/jobs`)).status).toBe(404)
    expect((await tenant.post(`${PATH}/import`, importing())).status).toBe(404)
    const { capabilities } = (await community.send('GET', '/api/v1/capabilities/')).body
    expect(capabilities).not.toContain('migration')
  } finally {
    await community.stop()
  }
})
