import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Client, clientOf } from '../../test/support/app.ts'
import type { Answer } from '../../test/support/http.ts'
import { type Probe, startProbe } from '../../test/support/probe.ts'
import { anonymous } from '../access/caller.ts'
import { DAY_MS } from '../lib/time.ts'
import { sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'

let app: Probe
let acme: Awaited<ReturnType<Probe['tenant']>>
let callers: Record<string, Client>

beforeAll(async () => {
  app = await startProbe()
  acme = await app.tenant('acme')
  callers = {
    anonymous: clientOf(app, {}),
    key: acme,
    dashboard: await app.dashboard(acme.email),
    operator: await app.operator('operator'),
    mailbox: clientOf(app, { authorization: `Bearer ${await mailboxToken()}` }),
  }
})
afterAll(() => app.stop())

let key: string
let rowsBefore: number
beforeEach(async () => {
  key = `key-${ulid()}`
  rowsBefore = await app.countRows()
})

const mailboxToken = async () => {
  const caller = {
    ...anonymous,
    ip: '127.0.0.1',
    userAgent: null,
    correlationId: '',
    atStart: [],
    atCommit: [],
  }
  const session = await app.core.db
    .transaction()
    .execute((tx) => app.core.access.sessions.open(tx, 'mailbox', acme.accountId, caller))
  return session.token
}
const newRows = async () => (await app.countRows()) - rowsBefore
const keyed = (more: Record<string, string> = {}) => ({
  headers: { 'idempotency-key': key, ...more },
})
const create = (body: unknown = { a: 1 }, path = '/api/v1/rows/key/201') =>
  acme.post(path, body, keyed())
const stored = () =>
  app.core.db.selectFrom('idempotency_keys').selectAll().where('key', '=', key).execute()
const isReplay = (answer: Answer) => answer.headers['idempotency-replayed'] === 'true'

describe('a request with an Idempotency-Key', () => {
  it.each([[''], ['with space'], ['x'.repeat(256)], ['tab\there'], ['\xe9']])(
    'is rejected when its key is %j',
    async (bad) => {
      const answer = await acme.post(
        '/api/v1/rows/key/201',
        {},
        { headers: { 'idempotency-key': bad } },
      )
      expect(answer).toMatchObject({
        status: 422,
        body: { msg: 'Idempotency-Key must be 1 to 255 visible ASCII characters' },
      })
      expect(await newRows()).toBe(0)
    },
  )

  it('is rejected with a different body, and the original can still be replayed', async () => {
    const first = await create({ a: 1 })
    const other = await create({ a: 2 })
    expect(other).toMatchObject({ status: 422, body: { error_code: 'IDEMPOTENCY_KEY_REUSED' } })
    expect(isReplay(other)).toBe(false)
    expect((await create({ a: 1 })).text).toBe(first.text)
    expect(await newRows()).toBe(1)
  })

  it.each([[401], [403], [429]])(
    'runs again after a %i, because a rejection is not stored',
    async (status) => {
      const calls = app.script.calls
      for (const _ of [1, 2]) {
        const answer = await create({}, `/api/v1/rows/key/${status}`)
        expect(answer.status).toBe(status)
        expect(isReplay(answer)).toBe(false)
      }
      expect(app.script.calls).toBe(calls + 2)
      expect(await stored()).toEqual([])
    },
  )

  it('is not stored when the caller may not use the route', async () => {
    const unknown = await app.send('POST', '/api/v1/rows/key/201', {
      body: {},
      headers: { 'idempotency-key': key },
    })
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    const refused = await reader.post('/api/v1/rows/key/201', {}, keyed())
    expect([unknown.status, refused.status]).toEqual([401, 403])
    expect(await stored()).toEqual([])
  })

  it.each([[500], [503]])('runs again after a %i', async (status) => {
    const calls = app.script.calls
    for (const _ of [1, 2]) {
      expect((await create({}, `/api/v1/rows/key/${status}`)).status).toBe(status)
    }
    expect(app.script.calls).toBe(calls + 2)
    expect(await stored()).toEqual([])
  })
})

describe('a retry with the same Idempotency-Key', () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE']
  const kinds = ['key', 'dashboard', 'operator', 'mailbox']

  it.each(kinds.flatMap((who) => methods.map((method) => [who, method] as const)))(
    'by %s of %s gets the first answer again, and nothing happens twice',
    async (who, method) => {
      const client = callers[who] as Client
      const [first, again] = [
        await client.call(method, `/api/v1/rows/${who}/201`, { a: 1 }, keyed()),
        await client.call(method, `/api/v1/rows/${who}/201`, { a: 1 }, keyed()),
      ]
      expect(first.status).toBe(201)
      expect(isReplay(first)).toBe(false)
      expect(again).toMatchObject({ status: 201, text: first.text })
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
      expect(isReplay(again)).toBe(true)
      expect(await newRows()).toBe(1)
    },
  )

  it('replays a 204 without content and without a content type', async () => {
    const first = await acme.delete('/api/v1/rows/key/204', undefined, keyed())
    const again = await acme.delete('/api/v1/rows/key/204', undefined, keyed())
    for (const answer of [first, again]) {
      expect(answer).toMatchObject({ status: 204, text: '' })
      expect(answer.headers['content-type']).toBeUndefined()
    }
    expect(isReplay(again)).toBe(true)
    expect(await newRows()).toBe(1)
  })

  it.each([[400], [404], [409], [422]])(
    'of a %i gets that error again, correlation id included',
    async (status) => {
      const calls = app.script.calls
      const first = await create({}, `/api/v1/rows/key/${status}`)
      const again = await create({}, `/api/v1/rows/key/${status}`)
      expect(again).toMatchObject({ status, text: first.text })
      expect(isReplay(again)).toBe(true)
      expect(again.headers['x-correlation-id']).toBe(again.body.correlation_id)
      expect(app.script.calls).toBe(calls + 1)
    },
  )

  it('gets a new correlation id when it replays a success', async () => {
    const [first, again] = [await create(), await create()]
    expect(again.headers['x-correlation-id']).toMatch(/^req_/)
    expect(again.headers['x-correlation-id']).not.toBe(first.headers['x-correlation-id'])
  })

  it('gets the 422 again for a body that does not match its schema', async () => {
    const path = '/api/v1/rag/search'
    const first = await acme.post(path, { query: 7 }, keyed())
    const again = await acme.post(path, { query: 7 }, keyed())
    expect(again).toMatchObject({ status: 422, text: first.text })
    expect(isReplay(again)).toBe(true)
  })

  it('accepts a URL of any length', async () => {
    const path = `/api/v1/rows/key/201?x=${randomBytes(3000).toString('hex')}`
    const [first, again] = [await create({}, path), await create({}, path)]
    expect(first.status).toBe(201)
    expect(again.text).toBe(first.text)
    expect((await create({}, `${path}y`)).text).not.toBe(first.text)
  })

  it('is a new operation with another path, method or caller', async () => {
    const globex = await app.tenant(`globex-${ulid().toLowerCase()}`)
    const answers = [
      await create(),
      await acme.post('/api/v1/rows/key/201?other=1', { a: 1 }, keyed()),
      await acme.put('/api/v1/rows/key/201', { a: 1 }, keyed()),
      await globex.post('/api/v1/rows/key/201', { a: 1 }, keyed()),
      await (await app.key(acme.organizationId)).post('/api/v1/rows/key/201', { a: 1 }, keyed()),
      await callers.anonymous?.post('/api/v1/rows/anonymous/201', { a: 1 }, keyed()),
      await callers.anonymous?.post(
        '/api/v1/rows/anonymous/201',
        { a: 1 },
        { ...keyed(), from: '127.0.0.2' },
      ),
    ]
    expect(answers.map((answer) => answer?.status)).toEqual(Array(7).fill(201))
    expect(new Set(answers.map((answer) => answer?.body.data.id)).size).toBe(7)
    expect(await newRows()).toBe(7)
  })

  it('runs again in another session of the same person (S10)', async () => {
    const first = await callers.dashboard?.post('/api/v1/rows/dashboard/201', { a: 1 }, keyed())
    const other = await app.dashboard(acme.email)
    const again = await other.post('/api/v1/rows/dashboard/201', { a: 1 }, keyed())
    expect(again.status).toBe(201)
    expect(isReplay(again)).toBe(false)
    expect(again.text).not.toBe(first?.text)
    expect(await newRows()).toBe(2)
  })

  it('by a caller without a credential runs again and leaves no row (S18)', async () => {
    for (const status of [201, 404, 422]) {
      const path = `/api/v1/rows/anonymous/${status}`
      const answer = await callers.anonymous?.post(path, { a: 1 }, keyed())
      expect(answer?.status).toBe(status)
      expect(isReplay((await callers.anonymous?.post(path, { a: 1 }, keyed())) as Answer)).toBe(
        false,
      )
    }
    expect(await stored()).toEqual([])
  })

  it('runs a read again', async () => {
    const [first, again] = [
      await acme.get('/api/v1/rows/key/201', keyed()),
      await acme.get('/api/v1/rows/key/201', keyed()),
    ]
    expect(again.body.data.id).not.toBe(first.body.data.id)
    expect(await stored()).toEqual([])
  })

  it('runs again after 24 hours, even with a different body', async () => {
    const first = await create({ a: 1 })
    const [row] = await stored()
    expect(Date.parse(row?.expires_at as string) - Date.parse(row?.created_at as string)).toBe(
      DAY_MS,
    )
    await app.core.db
      .updateTable('idempotency_keys')
      .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
      .where('key', '=', key)
      .execute()
    const later = await create({ a: 2 })
    expect(later.status).toBe(201)
    expect(isReplay(later)).toBe(false)
    expect(later.body.data.id).not.toBe(first.body.data.id)
    expect(await newRows()).toBe(2)
    expect((await create({ a: 2 })).text).toBe(later.text)
  })

  it('stores nothing from which a password could be guessed', async () => {
    const body = { email: acme.email, password: 'hunter2' }
    await create(body)
    const [row] = await stored()
    expect(JSON.stringify(row)).not.toContain(sha256(JSON.stringify(body)))
    expect(row?.request_hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('replays a secret that is shown once and is not readable in the database', async () => {
    const { body } = await create()
    expect((await create()).body.data.secret).toBe(body.data.secret)
    const [row] = await stored()
    expect(row?.response?.length).toBeGreaterThan(100)
    const everything = Object.values(row ?? {}).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    )
    expect(everything.join('\n')).not.toContain('shown-once')
    expect(everything.join('\n')).not.toContain(body.data.id)
  })
})
