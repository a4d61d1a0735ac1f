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
import { openCredentials } from './credentials.ts'
import { eraseOldCredentials } from './migration.jobs.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const started = (client: Client = acme, body = importing()) => startImport(client, body)
const settle = (id: string, status: string, more: object = {}) => settleJob(app, id, status, more)
const failed = (id: string, uid: string, more: object = {}) => storeFailure(app, id, uid, more)

describe('retrying failed messages', () => {
  it.each(['pending', 'running', 'cancelled'])('rejects a job that is %s', async (as) => {
    const id = await started()
    await settle(id, as)
    expect((await acme.post(`${PATH}/jobs/${id}/retry-failed`, passwords)).status).toBe(409)
  })

  it('rejects a job without a failed message that can be retried', async () => {
    const id = await started()
    await settle(id, 'completed')
    await failed(id, '1', { retryable: false })
    await failed(id, '2', { retried: true })
    const answer = await acme.post(`${PATH}/jobs/${id}/retry-failed`, passwords)
    expect(answer).toMatchObject({ status: 409, body: { msg: expect.stringMatching(/retr/) } })
  })

  it('creates one child job', async () => {
    const id = await started()
    await settle(id, 'failed')
    await failed(id, '3')
    const { status, body } = await acme.post(`${PATH}/jobs/${id}/retry-failed`, passwords)
    expect(status).toBe(201)
    expect(body).toMatchObject({ parent_job_id: id, is_retry: true, status: 'pending' })
    const child = (await acme.get(`${PATH}/jobs/${body.job_id}`)).body.job
    expect(child).toMatchObject({ is_retry: true, is_delta: false, parent_job_id: id })
    expect((await acme.get(`${PATH}/jobs/${id}`)).body.job.status).toBe('failed')
    expect((await acme.get(`${PATH}/jobs/${id}/errors`)).body.errors[0].retried).toBe(true)
    expect((await acme.post(`${PATH}/jobs/${id}/retry-failed`, passwords)).status).toBe(409)
  })
})

describe('a migration delta', () => {
  it.each(['pending', 'running', 'failed', 'cancelled'])(
    'is rejected for a job that is %s',
    async (status) => {
      const id = await started()
      await settle(id, status)
      expect((await acme.post(`${PATH}/jobs/${id}/delta`, passwords)).status).toBe(409)
    },
  )

  it('creates a child of a completed job, which stays completed', async () => {
    const id = await started()
    await settle(id, 'completed')
    const { status, body } = await acme.post(`${PATH}/jobs/${id}/delta`, passwords)
    expect(status).toBe(201)
    expect(body).toMatchObject({ parent_job_id: id, is_delta: true, status: 'pending' })
    expect((await acme.get(`${PATH}/jobs/${id}`)).body.job.status).toBe('completed')
  })
})

describe('passwords of a job that has ended', () => {
  const until = (ms: number) => new Date(app.core.now().getTime() + ms).toISOString()
  const completedJob = async (keptUntil: string, body = importing()) => {
    const id = await started(acme, body)
    const query = app.core.db.updateTable('migration_jobs').where('id', '=', id)
    await query.set({ status: 'completed', credentials_until: keptUntil }).execute()
    await failed(id, '7')
    return id
  }
  const secretsOf = async (id: string) => {
    const query = app.core.db
      .selectFrom('migration_jobs')
      .select('credentials')
      .where('id', '=', id)
    const { credentials } = await query.executeTakeFirstOrThrow()
    return credentials && openCredentials(app.core.vault, credentials)
  }

  it.each(['delta', 'retry-failed'])('are used by a %s without a body (B6.2)', async (action) => {
    const id = await completedJob(until(1000_000))
    const { status, body } = await acme.post(`${PATH}/jobs/${id}/${action}`)
    expect(status).toBe(201)
    expect(await secretsOf(body.job_id)).toEqual({
      mailbox: 'secret of the target',
      remote: 'secret of the source',
    })
  })

  it('are replaced by those of the request', async () => {
    const id = await completedJob(until(1000_000))
    const sent = { source_password: 'a newer one' }
    const { body } = await acme.post(`${PATH}/jobs/${id}/delta`, sent)
    expect(await secretsOf(body.job_id)).toMatchObject({ remote: 'a newer one' })
  })

  it('are required again once their time is over, and then erased', async () => {
    const id = await completedJob(until(-1))
    const kept = await completedJob(until(1000_000))
    const bare = await acme.post(`${PATH}/jobs/${id}/delta`)
    expect(bare.status).toBe(422)
    expect(bare.body.detail[0]).toMatchObject({
      loc: ['body', 'source_password'],
      msg: expect.stringMatching(/erased, so send this one again/),
    })
    expect((await acme.post(`${PATH}/jobs/${id}/delta`, passwords)).status).toBe(201)
    await eraseOldCredentials.run(app.core)
    expect(await secretsOf(id)).toBeNull()
    expect(await secretsOf(kept)).not.toBeNull()
  })

  it('are required for the other side of an export', async () => {
    const { body } = await acme.post(`${PATH}/export`, exporting())
    await settle(body.job_id, 'completed')
    const bare = await acme.post(`${PATH}/jobs/${body.job_id}/delta`)
    expect(bare.body.detail[0].loc).toEqual(['body', 'target_password'])
  })
})
