import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'

const RANGE = '/api/v1/platform/metrics/range'

let app: App
let appWithPrometheus: App
let prometheus: http.Server
let reply: (request: http.IncomingMessage, response: http.ServerResponse) => void
beforeAll(async () => {
  prometheus = http.createServer((request, response) => reply(request, response))
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve))
  const { port } = prometheus.address() as AddressInfo
  app = await startApp()
  appWithPrometheus = await startApp({ env: { PROMETHEUS_URL: `http://127.0.0.1:${port}/prom/` } })
})
afterAll(async () => {
  await app.stop()
  await appWithPrometheus.stop()
  prometheus.closeAllConnections()
  prometheus.close()
})

describe('metrics range from samples', () => {
  it.each([
    'query=up{job="x"}',
    '',
    'query=service_up&hours=0',
    'query=service_up&step=fast',
    'query=service_up&step=0m',
    'query=service_up&step=5m;drop',
  ])('rejects the query "%s" with 422', async (query) => {
    const support = await app.operator('support')
    expect((await support.get(`${RANGE}?${query}`)).status).toBe(422)
  })

  it('returns the average of the samples in each step', async () => {
    const support = await app.operator('support')
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS)
    await app.core.db
      .insertInto('metric_samples')
      .values(
        [1, 3, 8].map((value, index) => ({
          metric: 'mail_queue_depth',
          label: 'postfix',
          minute: new Date(hour.getTime() + index * MINUTE_MS).toISOString(),
          value,
        })),
      )
      .execute()
    const range = async (query: string) =>
      (await support.get(`${RANGE}?query=mail_queue_depth&${query}`)).body.data
    expect((await range('hours=1000')).step).toBe('1h')
    expect(await range('hours=24&step=1h')).toMatchObject({
      step: '1h',
      series: [
        {
          metric: 'mail_queue_depth',
          label: 'postfix',
          points: [{ t: hour.toISOString(), v: 4 }],
        },
      ],
    })
    expect((await range('hours=6&step=1s')).series[0].points).toHaveLength(3)
  })
})

describe('metrics range from Prometheus', () => {
  const queryRange = async (query = 'query=service_up&hours=6') =>
    (await appWithPrometheus.operator('support')).get(`${RANGE}?${query}`)

  it('returns 502 for an error status, an invalid body or too large a response', async () => {
    reply = (_request, response) => {
      response.statusCode = 503
      response.end('busy')
    }
    expect(await queryRange()).toMatchObject({ status: 502 })
    reply = (_request, response) => response.end('<html>')
    expect(await queryRange()).toMatchObject({ status: 502 })
    reply = (_request, response) => response.end(' '.repeat(9 * 1024 * 1024))
    expect((await queryRange()).body.msg).toMatch(/more than can be shown/)
  })

  it('sends the expression of the metric and leaves out values that are not finite', async () => {
    let requestUrl = ''
    reply = (request, response) => {
      requestUrl = request.url ?? ''
      const values = [
        [1000, '1'],
        [1060, 'NaN'],
        [1120, '+Inf'],
        [1180, '0'],
      ]
      const result = [{ metric: { job: 'api', instance: 'a:1' }, values }]
      response.end(JSON.stringify({ status: 'success', data: { result } }))
    }
    const { status, body } = await queryRange()
    expect(status).toBe(200)
    expect(body.data.series).toEqual([
      {
        metric: 'service_up',
        label: 'api',
        points: [
          { t: '1970-01-01T00:16:40.000Z', v: 1 },
          { t: '1970-01-01T00:19:40.000Z', v: 0 },
        ],
      },
    ])
    const url = new URL(requestUrl, 'http://x')
    expect(url.pathname).toBe('/prom/api/v1/query_range')
    expect(url.searchParams.get('query')).toBe('up')
    expect(url.searchParams.get('step')).toBe('60s')
  })

  it('returns 404 when Prometheus cannot be reached', async () => {
    prometheus.closeAllConnections()
    await new Promise((resolve) => prometheus.close(resolve))
    expect(await queryRange()).toMatchObject({ status: 404 })
  })
})
