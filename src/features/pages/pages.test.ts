import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import type { BuiltFiles } from './built-files.ts'
import { preferencesOf } from './page.ts'
import { hashedFiles, pageRoutes } from './pages.routes.ts'

const SCRIPT = 'console.log(1)'
const file = (type: string, text: string) => ({
  type,
  gzip: gzipSync(text),
  brotli: Buffer.from(text),
})
const built: BuiltFiles = {
  manifest: {
    scripts: {
      en: { start: 'start-en-ABCDEFGH.js', app: 'app-en-ABCDEFGH.js' },
      de: { start: 'start-de-ABCDEFGH.js', app: 'app-de-ABCDEFGH.js' },
    },
    imports: { 'app-en-ABCDEFGH.js': ['app-en-chunk-ABCDEFGH.js'] },
    style: 'style-ABCDEFGH.css',
  },
  files: new Map([
    ['start-en-ABCDEFGH.js', file('text/javascript; charset=utf-8', SCRIPT)],
    ['icon.svg', file('image/svg+xml', '<svg/>')],
  ]),
}

let app: App
beforeAll(async () => {
  app = await startApp({
    features: [{ prefix: '', routes: pageRoutes(built), files: hashedFiles(built) }],
  })
})
afterAll(() => app.stop())

describe('a page', () => {
  it('of statistics is the web app', async () => {
    const answer = await app.send('GET', '/dashboard')
    expect(answer.status).toBe(302)
    expect(answer.headers.location).toBe('/app')
  })

  it.each([
    ['/', 'start-en-ABCDEFGH.js'],
    ['/app', 'app-en-ABCDEFGH.js'],
    ['/app/', 'app-en-ABCDEFGH.js'],
    ['/app/domains/01ABC?days=7', 'app-en-ABCDEFGH.js'],
  ])('%s loads the script of its surface', async (path, script) => {
    const answer = await app.send('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.text).toContain(`src="/assets/${script}"`)
  })

  it('names the files that its script imports, so that they are loaded at once', async () => {
    const { text } = await app.send('GET', '/app')
    expect(text).toContain('<link rel="modulepreload" href="/assets/app-en-chunk-ABCDEFGH.js">')
  })

  it('is not stored, not framed, and runs only its own files', async () => {
    const { headers, text } = await app.send('GET', '/app')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    const policy = String(headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "base-uri 'none'",
    ]) {
      expect(policy.split('; ')).toContain(part)
    }
    expect(policy).not.toContain('unsafe')
    expect(text).not.toMatch(/<script>|<style|style="|onload=/)
  })

  it('has the language and the theme of the preference cookies', async () => {
    const get = async (headers: Record<string, string>) =>
      (await app.send('GET', '/app', { headers })).text.match(/<html[^>]*>/)?.[0]
    expect(await get({ 'accept-language': 'de-AT,en;q=0.8' })).toBe('<html lang="de">')
    expect(await get({ 'accept-language': 'de', cookie: 'lang=en; theme=dark' })).toBe(
      '<html lang="en" data-theme="dark">',
    )
    expect(await get({ cookie: 'lang="><script>; theme=<b>' })).toBe('<html lang="en">')
  })
})

describe('the preferences of a request', () => {
  it.each([
    ['fr, de;q=0.5, en;q=0.4', 'de'],
    ['en;q=0, de;q=0.1', 'de'],
    ['fr', 'en'],
    [undefined, 'en'],
    ['de;q=0', 'en'],
  ])('choose the language of Accept-Language %s', (header, language) => {
    expect(preferencesOf(['en', 'de'], {}, header).language).toBe(language)
  })
})

describe('a file of the web app', () => {
  it('is kept forever when its name has a hash, otherwise an hour', async () => {
    const hashed = await app.send('GET', '/assets/start-en-ABCDEFGH.js')
    expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(hashed.text).toBe(SCRIPT)
    const icon = await app.send('GET', '/assets/icon.svg')
    expect(icon.headers['cache-control']).toBe('public, max-age=3600')
  })

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
  ])('is sent for Accept-Encoding %s as %s', async (accepted, encoding) => {
    const { headers } = await app.send('HEAD', '/assets/start-en-ABCDEFGH.js', {
      headers: { 'accept-encoding': accepted },
    })
    expect(headers['content-encoding']).toBe(encoding)
    expect(headers.vary).toContain('Accept-Encoding')
  })

  it('is sent as it is in brotli, with the headers of every answer, and counted', async () => {
    const headers = { 'accept-encoding': 'gzip, br' }
    const answer = await app.send('GET', '/assets/start-en-ABCDEFGH.js', { headers })
    expect(answer.text).toBe(SCRIPT)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-correlation-id': expect.stringMatching(/^req_/),
    })
    expect((await app.send('GET', '/metrics')).text).toMatch(
      /api_http_requests_total{method="GET",path="\/assets\/\*",status_code="200"} \d+/,
    )
  })

  it.each(['nothing.js', '../package.json', '..%2f..%2fpackage.json', 'manifest.json', ''])(
    'is not found when it was not built: %s',
    async (name) => {
      const { status, text } = await app.send('GET', `/assets/${name}`)
      expect(status).toBe(404)
      expect(text).not.toContain('"dependencies"')
    },
  )
})
