import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('the reference at /docs keeps no API keys in the browser (S23)', async () => {
  const page = await app.send('GET', '/docs')
  expect(page.text).toContain('/docs/start.js')
  const { text } = await app.send('GET', '/docs/start.js')
  expect(text).toContain('persistAuthorization: false')
  // Removes what earlier versions have stored.
  expect(text).toContain("localStorage.removeItem('authorized')")
})

describe('the reference and the description (N18)', () => {
  it.each(['/openapi.json', '/docs/swagger-ui-bundle.js'])('%s is compressed', async (path) => {
    const get = (encoding: string) =>
      fetch(app.base + path, { headers: { 'accept-encoding': encoding } })
    const compressed = await get('br, gzip')
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    expect(compressed.headers.get('vary')).toContain('accept-encoding')
    const text = await compressed.text()
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(text.length / 3)
    const plain = await get('gzip;q=0')
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect((await plain.text()) === text).toBe(true)
  })

  it('is sent again only when it changed', async () => {
    const { headers } = await app.send('GET', '/openapi.json')
    expect(headers['cache-control']).toBe('no-cache')
    const again = await app.send('GET', '/openapi.json', {
      headers: { 'if-none-match': headers.etag as string },
    })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  it('lets browsers keep the files, which have a version in their address', async () => {
    const page = await app.send('GET', '/docs')
    expect(page.headers['cache-control']).toBe('no-cache')
    const files = [...page.text.matchAll(/"(\/docs\/[^"]+)"/g)].map(([, path]) => path as string)
    expect(files.length).toBeGreaterThan(4)
    for (const path of files) {
      expect(path).toMatch(/\?v=[0-9a-f]{12}$/)
      const { headers } = await app.send('GET', path)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
  })

  it('opens one group only, and offers API keys before internal credentials', async () => {
    const { text } = await app.send('GET', '/docs/start.js')
    expect(text).toContain("docExpansion: 'none'")
    const { body } = await app.send('GET', '/openapi.json')
    const schemes = Object.keys(body.components.securitySchemes)
    expect(schemes[0]).toBe('ApiKey')
    expect(schemes.slice(-2)).toEqual(['InternalToken', 'InternalBearer'])
    const tags = body.tags.map(({ name }: { name: string }) => name)
    expect(tags[0]).toBe('bootstrap')
    expect(tags.slice(-2)).toEqual(['meta', 'internal'])
  })
})
