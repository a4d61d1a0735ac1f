import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

const LOGS = '/api/v1/platform/logs'
let app: App
let support: Awaited<ReturnType<App['operator']>>
let folder: string

const at = (second: number) => `2026-11-15T10:00:${String(second).padStart(2, '0')}.000Z`
const line = (second: number, level: string, msg: string, more: object = {}) =>
  `${JSON.stringify({ level, time: at(second), service: 'x', ...more, msg })}\n`

/** Uses service names of its own, because the API under test logs to api.log. */
const write = (service: string, ...lines: string[]) =>
  writeFileSync(join(folder, `${service}.log`), lines.join(''))

interface Line {
  timestamp: string | null
  service: string
  level: string | null
  message: string
  correlation_id: string | null
}

async function tail(query: string) {
  const answer = await support.get(`${LOGS}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Log lines retrieved' } })
  return answer.body.data as { lines: Line[]; truncated: boolean; available_services: string[] }
}
const messages = async (query: string) => (await tail(query)).lines.map(({ message }) => message)

beforeAll(async () => {
  app = await startApp()
  support = await app.operator('support')
  folder = join(app.dataDir, 'logs')
  mkdirSync(folder, { recursive: true })
})
afterAll(() => app.stop())

describe('log lines', () => {
  it.each([
    ['level=LOUD', 'level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL'],
    ['since=yesterday', 'since must be an ISO8601 date or datetime'],
  ])('rejects the query %s with 422', async (query, msg) => {
    expect(await support.get(`${LOGS}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it('rejects lines=0 with 422', async () => {
    expect((await support.get(`${LOGS}?lines=0`)).status).toBe(422)
  })

  it.each(['nobody', '../secret-key', 'alpha.log', ''])(
    'returns 501 for the unknown service "%s"',
    async (service) => {
      const answer = await support.get(`${LOGS}?service=${encodeURIComponent(service)}`)
      expect(answer).toMatchObject({ status: 501, body: { type: 'error' } })
      expect(answer.body.msg).toContain('there are: ')
    },
  )

  it('merges all services by time; a line without a time follows the line above it', async () => {
    write('alpha', line(1, 'info', 'first'), line(3, 'error', 'third'), '    at somewhere\n')
    write('beta', line(2, 'warn', 'second', { correlation_id: 'req_2' }), line(4, 'fatal', 'last'))
    const { lines, available_services, truncated } = await tail('q=')
    const ours = lines.filter(({ service }) => /alpha|beta/.test(service))
    expect(ours).toEqual([
      { timestamp: at(1), service: 'alpha', level: 'INFO', message: 'first', correlation_id: null },
      {
        timestamp: at(2),
        service: 'beta',
        level: 'WARNING',
        message: 'second',
        correlation_id: 'req_2',
      },
      {
        timestamp: at(3),
        service: 'alpha',
        level: 'ERROR',
        message: 'third',
        correlation_id: null,
      },
      {
        timestamp: null,
        service: 'alpha',
        level: null,
        message: '    at somewhere',
        correlation_id: null,
      },
      {
        timestamp: at(4),
        service: 'beta',
        level: 'CRITICAL',
        message: 'last',
        correlation_id: null,
      },
    ])
    expect(available_services).toEqual(expect.arrayContaining(['alpha', 'beta']))
    expect(truncated).toBe(false)
  })

  it.each([
    ['service=alpha', ['first', 'third', '    at somewhere']],
    ['service=alpha&level=info', ['first', 'third']],
    ['service=beta&level=Critical', ['last']],
    ['service=beta&correlation_id=req_2', ['second']],
    ['service=beta&correlation_id=req', []],
    ['service=alpha&q=FIR', ['first']],
    [`service=alpha&since=${at(3)}`, ['third', '    at somewhere']],
    ['service=alpha&since=2026-11-16', []],
    ['service=beta&lines=1', ['last']],
  ])('returns the expected lines for %s', async (query, expected) => {
    expect(await messages(query)).toEqual(expected)
  })

  it('sets truncated when there are more lines', async () => {
    expect((await tail('service=beta&lines=1')).truncated).toBe(true)
    expect((await tail('service=beta&lines=2')).truncated).toBe(false)
  })

  it('appends the other fields of a log entry to its message', async () => {
    write(
      'gamma',
      line(1, 'info', 'request', { method: 'GET', status: 200, err: { message: 'no' } }),
    )
    expect(await messages('service=gamma')).toEqual([
      'request method=GET status=200 err={"message":"no"}',
    ])
  })

  it('redacts secrets and does not find them in a search', async () => {
    const id = '01M7EQPZYG8RN677PY00000003'
    const secrets = [
      'Authorization: Bearer abc.def',
      'X-API-Key: sk_live_12345',
      'password=hunter2',
      'new_password: "hunter3"',
      'signing_secret=hunter4',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig',
      'c'.repeat(8) + '0123456789abcdef'.repeat(2),
      `key ${'Zz_-'.repeat(12)}`,
    ]
    write(
      'delta',
      line(1, 'info', `id ${id} path /api/v1/domains/01M7EQQ1NVWTDQDM6K69TNQVJ1/quotas`),
      ...secrets.map((text, index) => line(index + 2, 'info', text)),
      line(20, 'info', 'sent', { token: 'hunter5', inner: { api_key: 'hunter6' } }),
      'Traceback password=hunter7\n',
    )
    const lines = await messages('service=delta')
    expect(lines).toHaveLength(secrets.length + 3)
    expect(lines[0]).toContain(`id ${id} path /api/v1/domains/01M7EQQ1NVWTDQDM6K69TNQVJ1/quotas`)
    for (const text of lines.slice(1)) expect(text).toContain('[redacted]')
    expect(lines.join('\n')).not.toMatch(/hunter|abc\.def|sk_live|eyJ|0123456789abcdef|Zz_-/)
    expect(await messages('service=delta&q=hunter')).toEqual([])
  })

  it('reads very long lines and bytes that are not valid UTF-8', async () => {
    const huge = `${'a-'.repeat(500_000)}\n`
    writeFileSync(join(folder, 'epsilon.log'), Buffer.from([0xff, 0xfe, 0x0a]))
    write('zeta', huge, line(1, 'info', 'after'))
    const lines = await messages('service=zeta')
    expect(lines.at(-1)).toBe('after')
    expect(lines.join('').length).toBeLessThan(20_000)
    expect((await tail('service=epsilon')).lines).toHaveLength(1)
  })

  it('reads only the end of a long log', async () => {
    write('eta', `${'x'.repeat(99)}\n`.repeat(60_000), line(1, 'info', 'end'))
    const { lines, truncated } = await tail('service=eta&lines=5000')
    expect(lines).toHaveLength(2000)
    expect(truncated).toBe(true)
    expect(lines.at(-1)?.message).toBe('end')
  })
})
