import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

const RANGE = '/api/v1/platform/metrics/range'

let app: App
let backed: App
let prometheus: http.Server
let reply: (request: http.IncomingMessage, response: http.ServerResponse) => void
beforeAll(async () => {
  prometheus = http.createServer((request, response) => reply(request, response))
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve))
  const { port } = prometheus.address() as AddressInfo
  app = await startApp()
  backed = await startApp({ env: { PROMETHEUS_URL: `http://127.0.0.1:${port}/prom/` } })
})
afterAll(async () => {
  await app.stop()
  await backed.stop()
  prometheus.closeAllConnections()
  prometheus.close()
})

describe('metrics over time', () => {
  it.each([
    'query=up{job="x"}',
    '',
    'query=service_up&hours=0',
    'query=service_up&step=fast',
    'query=service_up&step=0m',
    'query=service_up&step=5m;drop',
  ])('cannot be asked for with %s', async (query) => {
    const support = await app.operator('support')
    expect((await support.get(`${RANGE}?${query}`)).status).toBe(422)
  })

  it('come from the samples, averaged over the step', async () => {
    const support = await app.operator('support')
    const hour = new Date(Math.floor(Date.now() / 3600_000) * 3600_000 - 3600_000)
    await app.core.db
      .insertInto('metric_samples')
      .values(
        [1, 3, 8].map((value, index) => ({
          metric: 'mail_queue_depth',
          label: 'postfix',
          minute: new Date(hour.getTime() + index * 60_000).toISOString(),
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

describe('a Prometheus', () => {
  const ask = async (query = 'query=service_up&hours=6') =>
    (await backed.operator('support')).get(`${RANGE}?${query}`)

  it('that is unhappy is 502', async () => {
    reply = (_request, response) => {
      response.statusCode = 503
      response.end('busy')
    }
    expect(await ask()).toMatchObject({ status: 502 })
    reply = (_request, response) => response.end('<html>')
    expect(await ask()).toMatchObject({ status: 502 })
    reply = (_request, response) => response.end(' '.repeat(9 * 1024 * 1024))
    expect((await ask()).body.msg).toMatch(/more than can be shown/)
  })

  it('is asked with an expression of ours, and its gaps stay gaps', async () => {
    let asked = ''
    reply = (request, response) => {
      asked = request.url ?? ''
      const values = [
        [1000, '1'],
        [1060, 'NaN'],
        [1120, '+Inf'],
        [1180, '0'],
      ]
      const result = [{ metric: { job: 'api', instance: 'a:1' }, values }]
      response.end(JSON.stringify({ status: 'success', data: { result } }))
    }
    const { status, body } = await ask()
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
    const url = new URL(asked, 'http://x')
    expect(url.pathname).toBe('/prom/api/v1/query_range')
    expect(url.searchParams.get('query')).toBe('up')
    expect(url.searchParams.get('step')).toBe('60s')
  })

  it('that cannot be reached is 404', async () => {
    prometheus.closeAllConnections()
    await new Promise((resolve) => prometheus.close(resolve))
    expect(await ask()).toMatchObject({ status: 404 })
  })
})
