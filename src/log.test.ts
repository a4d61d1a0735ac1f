import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PASSWORD } from '../test/support/app.ts'
import { type Probe, startProbe } from '../test/support/probe.ts'
import { waitFor } from '../test/support/wait.ts'
import { rotatingFile } from './log.ts'

describe('the log of requests', () => {
  let app: Probe
  beforeAll(async () => {
    app = await startProbe()
  })
  afterAll(() => app.stop())

  const text = () => readFileSync(join(app.dataDir, 'logs', 'api.log'), 'utf8')
  const linesOf = (id: unknown) =>
    waitFor(() => {
      const found = text()
        .split('\n')
        .filter((line) => line.includes(String(id)))
      return found.length > 0 && found.map((line) => JSON.parse(line))
    })

  it('contains no secret of requests or responses', async () => {
    const acme = await app.tenant('acme')
    const dashboard = await app.dashboard(acme.email)
    const operator = await app.operator('owner')
    const secrets = [
      acme.apiKey,
      PASSWORD,
      operator.secret,
      ...operator.backupCodes,
      ...(dashboard.jar?.values() ?? []),
      ...(operator.jar?.values() ?? []),
      'wrong-key-of-somebody',
      'bearer-of-somebody',
      'bootstrap-of-somebody',
      'a-new-Passw0rd-of-somebody',
      'secret-in-the-query',
      'secret-idempotency-key',
    ]
    await acme.get('/api/v1/auth/me?token=secret-in-the-query')
    await dashboard.post('/api/v1/auth/password', {
      current_password: 'wrong',
      new_password: 'a-new-Passw0rd-of-somebody',
    })
    await acme.post(
      '/api/v1/rows/key/500',
      {},
      { headers: { 'idempotency-key': 'secret-idempotency-key' } },
    )
    await app.send('POST', '/api/v1/bootstrap/', {
      body: {},
      headers: { 'x-bootstrap-token': 'bootstrap-of-somebody' },
    })
    const last = await app.send('GET', '/api/v1/auth/me', {
      headers: { 'x-api-key': 'wrong-key-of-somebody', authorization: 'Bearer bearer-of-somebody' },
    })
    await linesOf(last.headers['x-correlation-id'])
    for (const secret of secrets) expect(text(), `the log has ${secret}`).not.toContain(secret)
  })

  it('has one line per request with id, route, status, time and caller', async () => {
    const acme = await app.tenant('globex')
    const { headers } = await acme.get('/api/v1/auth/me')
    const lines = await linesOf(headers['x-correlation-id'])
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        service: 'api',
        correlation_id: headers['x-correlation-id'],
        method: 'GET',
        path: '/api/v1/auth/me',
        status: 200,
        ms: expect.any(Number),
        ip: '127.0.0.1',
        caller: expect.stringMatching(/^key:/),
        msg: 'request',
      },
    ])
  })

  it.each([
    ['GET', '/%zz', 400],
    ['GET', '/nobody@example.com', 404],
    ['GET', '/api/v1/probe', 307],
  ])('has one line for %s %s (%i) without the requested URL', async (method, path, status) => {
    const { headers } = await app.send(method, path)
    expect(await linesOf(headers['x-correlation-id'])).toMatchObject([
      { method, path: 'unmatched', status },
    ])
  })

  it('is readable by its owner only', () => {
    expect(statSync(join(app.dataDir, 'logs', 'api.log')).mode & 0o777).toBe(0o600)
  })
})

describe('a log file', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mailplane-log-'))
    path = join(folder, 'x.log')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const SMALL = { maxBytes: 200_000, maxFiles: 5 }
  const line = (writer: string, number: number) => `${writer} ${number} ${'x'.repeat(100)}\n`
  const everything = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('')
      .split('\n')
      .filter((one) => one !== '')
      .map((one) => one.split(' ').slice(0, 2).join(' '))
      .sort()
  const expected = (writers: string[], count: number) =>
    writers.flatMap((writer) => Array.from({ length: count }, (_, i) => `${writer} ${i}`)).sort()

  it('is rotated when it is full, without losing a line', () => {
    const file = rotatingFile(path, SMALL)
    for (let i = 0; i < 8000; i++) file.write(line('a', i))
    file.close()
    expect(readdirSync(folder).sort()).toEqual(['x.log', 'x.log.1', 'x.log.2', 'x.log.3'])
    expect(everything()).toEqual(expected(['a'], 8000))
    expect(readFileSync(`${path}.3`, 'utf8').startsWith('a 0 ')).toBe(true)
  })

  it('is rotated into at most five older files', () => {
    const file = rotatingFile(path, SMALL)
    for (let i = 0; i < 40_000; i++) file.write(line('a', i))
    file.close()
    expect(readdirSync(folder).sort()).toEqual(
      ['x.log', 1, 2, 3, 4, 5].map((one) => (one === 'x.log' ? one : `x.log.${one}`)),
    )
    expect(readFileSync(`${path}.1`, 'utf8').length).toBeLessThan(SMALL.maxBytes + 70_000)
  })

  it('can be shared by processes that rotate it', () => {
    const files = { a: rotatingFile(path, SMALL), b: rotatingFile(path, SMALL) }
    for (let i = 0; i < 3000; i++) {
      files.a.write(line('a', i))
      files.b.write(line('b', i))
    }
    files.a.close()
    files.b.close()
    expect(readdirSync(folder).length).toBeGreaterThan(2)
    expect(everything()).toEqual(expected(['a', 'b'], 3000))
  })

  it('is opened again after another program, such as logrotate, has renamed it', () => {
    const file = rotatingFile(path)
    const fill = (from: number) => {
      for (let i = from; i < from + 1000; i++) file.write(line('a', i))
    }
    fill(0)
    renameSync(path, `${path}.old`)
    fill(1000)
    fill(2000)
    file.close()
    expect(readFileSync(path, 'utf8')).toContain('a 2999 ')
    expect(everything()).toEqual(expected(['a'], 3000))
  })

  it('contains every line of a process that exits at once', () => {
    const script = `
      import { rotatingFile } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))}
      const file = rotatingFile(${JSON.stringify(path)})
      for (let i = 0; i < 1500; i++) file.write('a ' + i + ' ' + 'x'.repeat(100) + '\\n')
      process.exit(0)`
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' })
    expect(everything()).toEqual(expected(['a'], 1500))
  })
})
