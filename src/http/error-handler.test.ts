import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Probe, SECRET_OF_THE_INSIDE, startProbe } from '../../test/support/probe.ts'
import { rawBody, rawHeader, sendRaw } from '../../test/support/raw.ts'
import { waitFor } from '../../test/support/wait.ts'

let app: Probe
beforeAll(async () => {
  app = await startProbe()
})
afterAll(() => app.stop())

const ID = /^req_[0-9A-HJKMNP-TV-Z]{26}$/
const PROTECTION = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-site',
  'cache-control': 'no-store',
}
const post = (path: string, raw: string | Buffer, type = 'application/json') =>
  app.send('POST', path, { raw, headers: { 'content-type': type } })

const answers: [string, number, () => ReturnType<Probe['send']>][] = [
  ['an unexpected failure', 500, () => app.send('GET', '/api/v1/probe/broken')],
  ['a missing daemon', 503, () => app.send('GET', '/api/v1/probe/away')],
  ['a malformed address', 400, () => app.send('GET', '/%zz')],
  ['a NUL in the path', 400, () => app.send('GET', '/api/v1/probe/things/a%00b')],
  [
    'a NUL in the path of a console route',
    400,
    () => app.send('GET', '/api/v1/platform/operators/%00'),
  ],
  ['a NUL in the query', 400, () => app.send('GET', '/api/v1/probe/?q=%00')],
  ['an unknown path', 404, () => app.send('GET', '/api/v1/nothing-here')],
  ['broken JSON for an unknown path', 422, () => post('/api/v1/nothing-here', '{')],
  [
    'a path parameter without end',
    400,
    () => app.send('GET', `/api/v1/probe/things/${'x'.repeat(1500)}`),
  ],
  ['a wrong method', 405, () => app.send('POST', '/health')],
  ['a missing credential', 401, () => app.send('GET', '/api/v1/auth/me')],
  ['a body that is too large', 413, () => post('/api/v1/probe/', `"${'x'.repeat(1024 * 1024)}"`)],
  ['a body of another type', 415, () => post('/api/v1/probe/', 'name=x', 'text/plain')],
  ['broken JSON', 422, () => post('/api/v1/probe/', '{"name":')],
  ['a body that does not match', 422, () => app.send('POST', '/api/v1/probe/', { body: {} })],
  ['a bad query value', 422, () => app.send('GET', '/api/v1/probe/?page=0')],
  [
    'rules that are not met',
    400,
    () => app.send('POST', '/api/v1/probe/rules', { body: { x: 1 } }),
  ],
  ['a redirect', 307, () => app.send('GET', '/api/v1/probe')],
  ['no content', 204, () => app.send('DELETE', '/api/v1/probe/things/x')],
  ['OPTIONS', 204, () => app.send('OPTIONS', '/health')],
  ['success', 200, () => app.send('GET', '/health')],
  ['creation', 201, () => app.send('POST', '/api/v1/probe/', { body: { name: 'x' } })],
]

describe('every response', () => {
  it.each(answers)(
    'to %s (%i) carries a correlation id and the protective headers',
    async (_what, status, ask) => {
      const answer = await ask()
      expect(answer.status).toBe(status)
      expect(answer.headers['x-correlation-id']).toMatch(ID)
      expect(answer.headers).toMatchObject(PROTECTION)
      if (status < 400) return
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body).toMatchObject({
        type: 'error',
        msg: expect.stringMatching(/./),
        correlation_id: answer.headers['x-correlation-id'],
      })
    },
  )

  it.each([
    ['garbage', 400, 'this is not HTTP\r\n\r\n'],
    ['binary garbage', 400, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])],
    [
      'oversized headers',
      431,
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    [
      'two lengths',
      400,
      'POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
  ])('to %s (%i) has its correlation id in header and body', async (_what, status, bytes) => {
    const answer = await sendRaw(app.base, bytes)
    expect(answer.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const id = rawHeader(answer, 'X-Correlation-Id')
    expect(id).toMatch(ID)
    expect(JSON.parse(rawBody(answer))).toMatchObject({ type: 'error', correlation_id: id })
    for (const [name, value] of Object.entries(PROTECTION))
      expect(rawHeader(answer, name)).toBe(value)
    await waitFor(() => log().includes(id as string))
  })

  it.each([
    ['a chunked body', 'Transfer-Encoding: chunked', '300000\r\n', '\r\n0\r\n\r\n'],
    ['a body of a known length', `Content-Length: ${3 * 1024 * 1024}`, '', ''],
  ])(
    'reaches a client that is still sending %s that is too large',
    async (_w, length, before, after) => {
      const head = `POST /api/v1/probe/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}`
      const next = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      const body = before + 'x'.repeat(3 * 1024 * 1024) + after
      const answers = await sendRaw(app.base, `${head}\r\n\r\n${body}${next}`)
      expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    },
  )

  it('has a new correlation id, whatever id the client sends', async () => {
    const headers = { 'x-correlation-id': 'mine', 'request-id': 'mine' }
    const ids = await Promise.all(
      [1, 2, 3].map(
        async () => (await app.send('GET', '/health', { headers })).headers['x-correlation-id'],
      ),
    )
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain('mine')
  })

  it('sends Strict-Transport-Security when the public URL is https', async () => {
    const secure = await startProbe({ SVC_PUBLIC_URL: 'https://mail.example.com' })
    try {
      const { headers } = await secure.send('GET', '/health')
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
    } finally {
      await secure.stop()
    }
    expect((await app.send('GET', '/health')).headers['strict-transport-security']).toBeUndefined()
  })
})

describe('an unexpected failure', () => {
  it('hides internals from the caller and logs them under the same correlation id', async () => {
    const answer = await app.send('GET', '/api/v1/probe/broken')
    expect(answer.body).toEqual({
      type: 'error',
      msg: 'Internal server error',
      correlation_id: answer.headers['x-correlation-id'],
    })
    expect(JSON.stringify(answer.headers)).not.toContain('hunter2')
    const line = await waitFor(() =>
      log()
        .split('\n')
        .find((one) => one.includes(answer.body.correlation_id) && one.includes('unexpectedly')),
    )
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      service: 'api',
      err: { message: SECRET_OF_THE_INSIDE, stack: expect.stringContaining('probe.ts') },
    })
  })

  it('is not reported for an unavailable daemon, which is 503 with `error`', async () => {
    const answer = await app.send('GET', '/api/v1/probe/away')
    expect(answer.status).toBe(503)
    expect(answer.body.error).toBe('Probe worker unavailable')
  })

  it('is not reported for a deadlock: one request succeeds, the other may be repeated', async () => {
    const order = [1, 2]
    let waiting = 0
    app.script.within = async (tx) => {
      const [first, second] = order.reverse()
      await sql`select pg_advisory_xact_lock(${first})`.execute(tx)
      waiting++
      await waitFor(() => waiting === 2)
      await sql`select pg_advisory_xact_lock(${second})`.execute(tx)
    }
    const before = await app.countRows()
    const answers = await Promise.all(
      [1, 2].map(() => app.send('POST', '/api/v1/rows/anonymous/201')),
    )
    app.script.within = async () => {}
    const [made, refused] = answers.toSorted((one, other) => one.status - other.status)
    expect(made?.status).toBe(201)
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': '3' },
      body: { error_code: 'DATABASE_UNAVAILABLE' },
    })
    expect(await app.countRows()).toBe(before + 1)
  })
})

const log = () => readFileSync(join(app.dataDir, 'logs', 'api.log'), 'utf8')
