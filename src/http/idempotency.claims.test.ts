import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Probe, startProbe } from '../../test/support/probe.ts'
import { waitFor } from '../../test/support/wait.ts'
import { ulid } from '../lib/ulid.ts'

let app: Probe
let acme: Awaited<ReturnType<Probe['tenant']>>
beforeAll(async () => {
  // The heartbeat is an interval; here a test triggers it.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  app = await startProbe()
  acme = await app.tenant('acme')
})
afterAll(async () => {
  vi.useRealTimers()
  await app.stop()
})

let key: string
let rowsBefore: number
beforeEach(async () => {
  key = `key-${ulid()}`
  rowsBefore = await app.countRows()
  app.script.calls = 0
})
afterEach(() => {
  app.script.within = async () => {}
  app.script.after = async () => {}
})

const create = (body: unknown = { a: 1 }) =>
  acme.post('/api/v1/rows/key/201', body, { headers: { 'idempotency-key': key } })
const newRows = async () => (await app.countRows()) - rowsBefore
const IN_PROGRESS = { status: 409, body: { error_code: 'IDEMPOTENCY_IN_PROGRESS' } }

/** Backdates the lease, as if its holder had stopped renewing it. */
const silence = async (seconds = 61) => {
  await sql`update idempotency_keys set lease_until = now() + make_interval(secs => ${60 - seconds})
    where key = ${key}`.execute(app.core.db)
}
const claimed = () =>
  app.core.db
    .selectFrom('idempotency_keys')
    .select([
      'state',
      sql<number>`60 - extract(epoch from lease_until - now())::float8`.as('silent'),
    ])
    .where('key', '=', key)
    .executeTakeFirstOrThrow()

/** Holds the first request in or after its transaction until `letGo` is called. */
function holdFirst(where: 'within' | 'after') {
  let letGo = () => {}
  let held = false
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  app.script[where] = async () => {
    if (held) return
    held = true
    await gate
  }
  return { letGo, arrived: () => waitFor(() => held) }
}

describe('while the original request runs', () => {
  it('a retry gets 409, and a different body gets 422', async () => {
    const first = holdFirst('within')
    const original = create({ a: 1 })
    await first.arrived()
    const retry = await create({ a: 1 })
    expect(retry).toMatchObject(IN_PROGRESS)
    expect(retry.headers['retry-after']).toBe('1')
    expect(retry.headers['idempotency-replayed']).toBeUndefined()
    expect(await create({ a: 2 })).toMatchObject({
      status: 422,
      body: { error_code: 'IDEMPOTENCY_KEY_REUSED' },
    })
    first.letGo()
    const answer = await original
    expect(answer.status).toBe(201)
    expect((await create({ a: 1 })).text).toBe(answer.text)
    expect(app.script.calls).toBe(1)
  })

  it('twelve concurrent requests create one row; the others get its response or 409', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create()))
    expect(await newRows()).toBe(1)
    const successes = answers.filter(({ status }) => status === 201)
    expect(successes.length).toBeGreaterThanOrEqual(1)
    expect(new Set(successes.map(({ text }) => text)).size).toBe(1)
    for (const answer of answers) {
      if (answer.status !== 201) expect(answer).toMatchObject(IN_PROGRESS)
    }
  })

  it('its claim is renewed, so that a retry does not take over a long request', async () => {
    const first = holdFirst('within')
    const original = create()
    await first.arrived()
    await silence(59)
    await vi.advanceTimersByTimeAsync(15_000)
    await waitFor(async () => (await claimed()).silent < 30)
    expect(await create()).toMatchObject(IN_PROGRESS)
    first.letGo()
    await original
    await silence(59)
    await vi.advanceTimersByTimeAsync(15_000)
    expect((await claimed()).silent).toBeGreaterThan(30)
  })
})

describe('when the process of the original died', () => {
  it('a retry takes over the claim after one minute, and not before', async () => {
    const first = holdFirst('within')
    const original = create()
    await first.arrived()
    await silence(50)
    expect(await create()).toMatchObject(IN_PROGRESS)
    await silence(61)
    const retry = await create()
    expect(retry.status).toBe(201)
    expect(retry.headers['idempotency-replayed']).toBeUndefined()
    first.letGo()
    await original
  })

  it('a different body does not take over', async () => {
    const first = holdFirst('within')
    const original = create({ a: 1 })
    await first.arrived()
    await silence()
    expect(await create({ a: 2 })).toMatchObject({
      status: 422,
      body: { error_code: 'IDEMPOTENCY_KEY_REUSED' },
    })
    first.letGo()
    await original
  })

  it('a process that was only slow cannot commit after a retry took over', async () => {
    const first = holdFirst('within')
    const original = create()
    await first.arrived()
    await silence()
    const retry = await create()
    expect(retry.status).toBe(201)
    first.letGo()
    expect(await original).toMatchObject(IN_PROGRESS)
    expect(await newRows()).toBe(1)
    const later = await create()
    expect(later).toMatchObject({ status: 201, text: retry.text })
    expect(later.headers['idempotency-replayed']).toBe('true')
  })

  it('after its commit, a retry gets a success and does not repeat the change', async () => {
    const first = holdFirst('after')
    const original = create()
    await first.arrived()
    expect((await claimed()).state).toBe('committed')
    expect(await create()).toMatchObject(IN_PROGRESS)
    await silence()
    const retry = await create()
    expect(retry).toMatchObject({
      status: 201,
      body: {
        type: 'success',
        msg: 'The original request was carried out; its response was not kept',
      },
    })
    expect(retry.headers['idempotency-replayed']).toBe('true')
    expect(await newRows()).toBe(1)
    first.letGo()
    const answer = await original
    expect((await create()).text).toBe(answer.text)
  })

  it('a failure after the commit does not repeat the change', async () => {
    app.script.after = async () => {
      throw new Error('the mail server hung up')
    }
    expect((await create()).status).toBe(500)
    app.script.after = async () => {}
    expect(await create()).toMatchObject(IN_PROGRESS)
    await silence()
    expect((await create()).status).toBe(201)
    expect(await newRows()).toBe(1)
    expect(app.script.calls).toBe(1)
  })

  it('a failure before the commit leaves nothing, and a retry runs the request', async () => {
    app.script.within = async () => {
      throw new Error('the disk is full')
    }
    expect((await create()).status).toBe(500)
    expect(await newRows()).toBe(0)
    app.script.within = async () => {}
    expect((await create()).status).toBe(201)
    expect(await newRows()).toBe(1)
  })
})
