import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Probe, startProbe } from '../../test/support/probe.ts'
import { rawHeader, sendRaw } from '../../test/support/raw.ts'

let app: Probe
beforeAll(async () => {
  app = await startProbe()
})
afterAll(() => app.stop())

describe('a missing or extra trailing slash', () => {
  it.each([
    ['//evil.test'],
    ['//evil.test/'],
    ['//evil.test/api/v1/probe'],
    ['/\\evil.test'],
    ['//'],
  ])('never redirects to another host: %s', async (path) => {
    const answer = await sendRaw(
      app.base,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(rawHeader(answer, 'location')).toBeUndefined()
  })

  it('never redirects to the host of an absolute URL', async () => {
    const answer = await sendRaw(
      app.base,
      'GET http://evil.test/api/v1/probe HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 (404|307) /)
    expect(rawHeader(answer, 'location') ?? '').not.toContain('evil')
  })

  it.each([
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v1/nothing/'],
    ['POST', '/api/v1/capabilities'],
    ['GET', '/'],
  ])('does not redirect an unknown path: %s %s', async (method, path) => {
    const answer = await app.send(method, path)
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Not found' } })
    expect(answer.headers.location).toBeUndefined()
  })

  it.each([['GET'], ['HEAD'], ['POST'], ['PUT'], ['PATCH'], ['DELETE']])(
    'is redirected for %s with 307 to a path, with its query',
    async (method) => {
      const answer = await app.send(method, '/api/v1/probe?page=2&q=a%20b')
      expect(answer.status).toBe(307)
      expect(answer.headers.location).toBe('/api/v1/probe/?page=2&q=a%20b')
      expect(answer.text).toBe('')
    },
  )

  it('redirects to the path without the slash, with path parameters as sent', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await app.send(method, '/api/v1/probe/things/a%2Fb/?x=1')
      expect(answer).toMatchObject({
        status: 307,
        headers: { location: '/api/v1/probe/things/a%2Fb?x=1' },
      })
    }
    expect((await app.send('GET', '/health/')).headers.location).toBe('/health')
  })

  it('is not an empty path parameter', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await app.send(method, '/api/v1/probe/things/')
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Not found' } })
      expect(answer.headers['x-correlation-id']).toBe(answer.body.correlation_id)
    }
    const operator = await app.operator('owner')
    const list = await operator.get('/api/v1/platform/operators/?page=1')
    expect(list).toMatchObject({
      status: 307,
      headers: { location: '/api/v1/platform/operators?page=1' },
    })
  })

  it('lets the client send its body again to the new location', async () => {
    const body = { name: 'sent twice' }
    const { status, headers } = await app.send('POST', '/api/v1/probe', { body })
    expect(status).toBe(307)
    const followed = await app.send('POST', headers.location as string, { body })
    expect(followed).toMatchObject({ status: 201, body: { data: body } })
    const fetched = await fetch(`${app.base}/api/v1/probe`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(fetched.status).toBe(201)
    expect(await fetched.json()).toMatchObject({ data: body })
  })
})

describe('HTTP methods', () => {
  it('returns 405 with Allow for a method that a path does not accept', async () => {
    const answer = await app.send('PATCH', '/api/v1/probe/things/x')
    expect(answer).toMatchObject({
      status: 405,
      body: { msg: 'Method PATCH is not allowed here' },
    })
    expect(answer.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS'])
  })

  it('OPTIONS lists the methods of a path without a credential', async () => {
    const answer = await app.send('OPTIONS', '/api/v1/auth/me')
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS'])
    expect((await app.send('OPTIONS', '/api/v1/nothing')).status).toBe(404)
  })

  it('HEAD responds like GET without a body', async () => {
    const [get, head] = [await app.send('GET', '/health'), await app.send('HEAD', '/health')]
    expect(head).toMatchObject({ status: 200, text: '' })
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      expect(head.headers[name]).toBe(get.headers[name])
    }
    expect(await app.send('HEAD', '/api/v1/auth/me')).toMatchObject({ status: 401, text: '' })
  })
})
