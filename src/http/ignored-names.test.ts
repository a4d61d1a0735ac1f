import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

describe('unknown names in a request (N14)', () => {
  it('are ignored, and the answer says which query parameters they are', async () => {
    const { status, headers } = await acme.get('/api/v1/domains/?pagee=2&per_page=5&s%C3%B6rted=1')
    expect(status).toBe(200)
    expect(headers['x-ignored-parameters']).toBe('pagee, s%C3%B6rted')
    expect(headers['x-ignored-fields']).toBeUndefined()
    const plain = await acme.get('/api/v1/domains/?page=1')
    expect(plain.headers['x-ignored-parameters']).toBeUndefined()
    const none = await acme.get('/api/v1/auth/me?verbose=1')
    expect(none.headers['x-ignored-parameters']).toBe('verbose')
  })

  it('are ignored, and the answer says which fields they are', async () => {
    const path = `/api/v1/mailboxes/email-accounts/${acme.accountId}`
    const { status, headers } = await acme.put(path, {
      name: 'Jane',
      nmae: 'x',
      'line\r\nbreak': 1,
    })
    expect(status).toBe(200)
    expect(headers['x-ignored-fields']).toBe('nmae, line%0D%0Abreak')
  })

  it('are named where nothing else was sent and nothing could be changed', async () => {
    const path = `/api/v1/rate-limiter/rate-limits/domain/${acme.domain}`
    expect(await acme.post(path, { hourly_limt: 5, per_day: 3 })).toMatchObject({
      status: 400,
      body: {
        msg: 'No data provided',
        data: { errors: ['Unknown field: hourly_limt', 'Unknown field: per_day'] },
      },
    })
    expect((await acme.post(path, {})).body.data).toBeUndefined()
  })

  it('are named up to a bound', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `name${index}${'x'.repeat(90)}`)
    const { headers } = await acme.get(
      `/api/v1/domains/?${names.map((one) => `${one}=1`).join('&')}`,
    )
    expect(String(headers['x-ignored-parameters']).split(', ')).toHaveLength(20)
    expect(String(headers['x-ignored-parameters']).length).toBeLessThan(1300)
  })
})
