import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { HOUR_SECONDS, MINUTE_MS } from '../lib/time.ts'
import { ulid } from '../lib/ulid.ts'
import { deleteExpiredIdempotencyKeys } from './housekeeping.ts'
import { type Job, runJobs, takeJob } from './jobs.ts'

let one: App
let other: App
beforeAll(async () => {
  one = await startApp()
  other = await startApp({ database: one.database })
})
afterAll(async () => {
  await other.stop()
  await one.stop()
})
afterEach(() => {
  vi.useRealTimers()
})

const jobNamed = (run: Job['run'] = async () => {}): Job => ({
  name: `test.${ulid()}`,
  everySeconds: HOUR_SECONDS,
  run,
})
const begunAgo = async ({ name }: Job, seconds: number) => {
  await sql`update job_runs set begun_at = now() - make_interval(secs => ${seconds})
    where name = ${name}`.execute(one.core.db)
}

describe('a job', () => {
  it('is claimed by one of two processes', async () => {
    const job = jobNamed()
    const looks = await Promise.all(
      Array.from({ length: 10 }, (_, i) => takeJob((i % 2 ? one : other).core.db, job)),
    )
    expect(looks.filter((taken) => taken)).toHaveLength(1)
  })

  it('is due again after its interval, and not before', async () => {
    const job = jobNamed()
    expect(await takeJob(one.core.db, job)).toBe(true)
    await begunAgo(job, 3590)
    expect(await takeJob(other.core.db, job)).toBe(false)
    await begunAgo(job, 3601)
    expect(await takeJob(other.core.db, job)).toBe(true)
    expect(await takeJob(one.core.db, job)).toBe(false)
  })

  it('is checked without a write while it is not due', async () => {
    const job = jobNamed()
    await takeJob(one.core.db, job)
    await one.core.db.transaction().execute(async (tx) => {
      expect(await takeJob(tx, job)).toBe(false)
      const { rows } = await sql`select pg_current_xact_id_if_assigned() as id`.execute(tx)
      expect(rows).toEqual([{ id: null }])
    })
  })

  it('runs again after a failure, which does not stop other jobs', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const runs: string[] = []
    const failing = jobNamed(async () => {
      runs.push('failing')
      throw new Error('the disk is full')
    })
    const working = jobNamed(async () => runs.push('working'))
    const jobs = runJobs(one.core, [failing, working])
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(runs.toSorted()).toEqual(['failing', 'working']))
    await begunAgo(failing, 3601)
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(runs.toSorted()).toEqual(['failing', 'failing', 'working']))
    await jobs.stop()
    await begunAgo(working, 3601)
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(runs).toHaveLength(3)
  })

  it('that takes long does not delay others, and does not overlap with itself', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const runs: string[] = []
    let release = () => {}
    const long = jobNamed(async () => {
      runs.push('long')
      await new Promise<void>((resolve) => {
        release = resolve
      })
    })
    const short = jobNamed(async () => runs.push('short'))
    const jobs = runJobs(one.core, [long, short])
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(runs.toSorted()).toEqual(['long', 'short']))
    for (const job of [long, short]) await begunAgo(job, 3601)
    await vi.advanceTimersByTimeAsync(30_000)
    await vi.waitFor(() => expect(runs.toSorted()).toEqual(['long', 'short', 'short']))
    release()
    await jobs.stop()
  })
})

describe('housekeeping', () => {
  it('deletes idempotency keys that have expired, and no others', async () => {
    const acme = await one.tenant('acme')
    for (const key of ['old', 'young']) {
      await acme.post('/api/v1/auth/logout', {}, { headers: { 'idempotency-key': key } })
    }
    await sql`update idempotency_keys set expires_at = now() - interval '1 second' where key = 'old'`.execute(
      one.core.db,
    )
    await deleteExpiredIdempotencyKeys.run(one.core)
    const left = await one.core.db.selectFrom('idempotency_keys').select('key').execute()
    expect(left).toEqual([{ key: 'young' }])
  })
})
