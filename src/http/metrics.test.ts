import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../../test/support/app.ts'
import { type Probe, startProbe } from '../../test/support/probe.ts'
import { waitFor } from '../../test/support/wait.ts'
import { metrics } from './metrics.ts'

const readSeries = (page: string, series: string): number | undefined => {
  const line = page.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('the metrics of a service', () => {
  const names: [string, string][] = [
    ['rate_limiter_info', 'gauge'],
    ['rate_limiter_uptime_seconds', 'counter'],
    ['rate_limiter_cpu_usage_percent', 'gauge'],
    ['rate_limiter_memory_usage_percent', 'gauge'],
    ['rate_limiter_memory_usage_bytes', 'gauge'],
    ['rate_limiter_http_requests_total', 'counter'],
    ['rate_limiter_http_errors_total', 'counter'],
    ['rate_limiter_http_request_duration_seconds', 'summary'],
  ]

  it('have exactly the documented names under their prefix, each with one HELP and one TYPE', async () => {
    const observed = metrics('rate_limiter')
    observed.observe('GET', '/x', 500, 0.1)
    const page = await observed.render()
    expect(page.match(/^# TYPE .*$/gm)).toEqual(
      names.map(([name, type]) => `# TYPE ${name} ${type}`),
    )
    expect(page.match(/^# HELP \S+ /gm)).toEqual(names.map(([name]) => `# HELP ${name} `))
    const series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    for (const line of series) {
      expect(line).toMatch(/^[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? -?[0-9.e+-]+$/)
      const name = line.split(/[{ ]/)[0]?.replace(/(duration_seconds)_(sum|count)$/, '$1')
      expect(names.map(([known]) => known)).toContain(name)
    }
    expect(page.endsWith('\n')).toBe(true)
    expect(page).not.toContain('bucket')
  })

  it('count requests by method, path and status, and statuses from 400 as errors', async () => {
    const observed = metrics('x')
    for (const status of [200, 204, 307, 399, 400, 404, 404, 503])
      observed.observe('GET', '/a', status, 1)
    const page = await observed.render()
    const total = (name: string, status: number) =>
      readSeries(page, `x_http_${name}_total{method="GET",path="/a",status_code="${status}"}`)
    expect([200, 204, 307, 399, 400, 404, 503].map((status) => total('requests', status))).toEqual([
      1, 1, 1, 1, 1, 2, 1,
    ])
    expect([200, 204, 307, 399, 400, 404, 503].map((status) => total('errors', status))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      1,
      2,
      1,
    ])
  })

  it.each([
    [1, [7, 7, 7]],
    [9, [5, 9, 9]],
    [100, [50, 95, 99]],
    [1000, [500, 950, 990]],
    [1001, [501, 951, 991]],
    [5000, [4500, 4950, 4990]],
  ])('compute quantiles over the last 1000 of %i observations', async (count, quantiles) => {
    const observed = metrics('x')
    for (let i = 1; i <= count; i++) observed.observe('GET', '/a', 200, count === 1 ? 7 : i)
    observed.observe('GET', '/other', 200, 1_000_000)
    const page = await observed.render()
    const name = 'x_http_request_duration_seconds'
    const labels = 'method="GET",path="/a"'
    expect(
      ['0.5', '0.95', '0.99'].map((one) =>
        readSeries(page, `${name}{${labels},quantile="${one}"}`),
      ),
    ).toEqual(quantiles)
    expect(readSeries(page, `${name}_count{${labels}}`)).toBe(count)
    expect(readSeries(page, `${name}_sum{${labels}}`)).toBe(
      count === 1 ? 7 : (count * (count + 1)) / 2,
    )
  })

  it('have one summary per method and path for all statuses', async () => {
    const observed = metrics('x')
    observed.observe('GET', '/a', 200, 1)
    observed.observe('GET', '/a', 500, 2)
    observed.observe('POST', '/a', 500, 4)
    const page = await observed.render()
    expect(readSeries(page, 'x_http_request_duration_seconds_sum{method="GET",path="/a"}')).toBe(3)
    expect(readSeries(page, 'x_http_request_duration_seconds_sum{method="POST",path="/a"}')).toBe(4)
  })

  it('include the metrics that a daemon adds', async () => {
    const observed = metrics('x')
    observed.extend(async () => '# TYPE x_depth gauge\nx_depth 3')
    expect(readSeries(await observed.render(), 'x_depth')).toBe(3)
  })

  it('include plausible readings of the host', async () => {
    const page = await metrics('x').render()
    for (const name of ['x_cpu_usage_percent', 'x_memory_usage_percent']) {
      expect(readSeries(page, name)).toBeGreaterThanOrEqual(0)
      expect(readSeries(page, name)).toBeLessThanOrEqual(100)
    }
    expect(readSeries(page, 'x_memory_usage_bytes')).toBeGreaterThan(1024 * 1024)
    expect(readSeries(page, 'x_uptime_seconds')).toBeGreaterThanOrEqual(0)
  })
})

describe('GET /metrics', () => {
  let app: Probe
  beforeAll(async () => {
    app = await startProbe()
  })
  afterAll(() => app.stop())
  /** Polls, because a request is counted after its response was sent. */
  const scrapeUntil = (series: string, value: number) =>
    waitFor(async () => {
      const { text } = await app.send('GET', '/metrics')
      return readSeries(text, series) === value && text
    })

  it('is 404 in the community edition', async () => {
    const community = await startApp({ env: { SVC_EDITION: 'community' } })
    try {
      expect(await community.send('GET', '/metrics')).toMatchObject({
        status: 404,
        body: { msg: 'Not found' },
      })
    } finally {
      await community.stop()
    }
  })

  it('is public, in the text exposition format', async () => {
    const answer = await app.send('GET', '/metrics')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.text).toMatch(/^api_info\{version="\d+\.\d+\.\d+",service="api"\} 1$/m)
  })

  it('uses route templates as labels, never ids or e-mail addresses', async () => {
    for (const id of ['alice@example.com', 'bob"}\n@example.com', 'x']) {
      await app.send('GET', `/api/v1/probe/things/${encodeURIComponent(id)}`)
    }
    const labels = 'method="GET",path="/api/v1/probe/things/:thing_id",status_code="200"'
    const page = await scrapeUntil(`api_http_requests_total{${labels}}`, 3)
    expect(page).not.toContain('example.com')
  })

  it('uses one label for all paths without a route', async () => {
    for (const path of ['/%zz', '/a', '/b/c', '/d@example.com']) await app.send('GET', path)
    const unmatched = (status: number) =>
      `api_http_errors_total{method="GET",path="unmatched",status_code="${status}"}`
    const page = await scrapeUntil(unmatched(404), 3)
    expect(readSeries(page, unmatched(400))).toBe(1)
    expect(page).not.toMatch(/path="\/(a"|b\/|d@|%)/)
    expect(page).not.toContain('NaN')
  })
})
