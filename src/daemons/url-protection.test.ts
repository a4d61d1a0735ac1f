import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, newIp, startApp } from '../../test/support/app.ts'
import { type DnsServer, startDnsServer } from '../../test/support/dns-server.ts'
import { BROWSER } from '../../test/support/tracked.ts'
import { waitFor } from '../../test/support/wait.ts'
import type { Mail, Stage } from '../content/stage.ts'
import { urlProtectionStage } from '../features/url-protection/links/url-protection.stage.ts'
import { forgetClicks } from '../features/url-protection/url-protection.jobs.ts'
import { DAY_MS } from '../lib/time.ts'
import { MimeMessage } from '../mime/message.ts'
import { urlProtection } from './url-protection.ts'

const API = '/api/v1/url-protection'
const BASE = 'https://mail.acme.test'

const folder = mkdtempSync(join(tmpdir(), 'mailplane-feeds-'))
const feedFile = join(folder, 'feed.txt')
let app: App
let dns: DnsServer
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let stage: Stage
beforeAll(async () => {
  writeFileSync(feedFile, 'listed.test\nshop.test/stolen\n')
  dns = await startDnsServer()
  app = await startApp({
    env: {
      SVC_PUBLIC_URL: `${BASE}/`,
      URL_FEED_FILES: feedFile,
      URL_DNSBL: 'dbl.test',
      SVC_DNS_SERVERS: dns.address,
    },
    daemons: [urlProtection],
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  stage = urlProtectionStage(app.core)
  await acme.put(`${API}/settings`, { enabled: true })
})
afterAll(async () => {
  await stage.stop?.()
  await app.stop()
  await dns.stop()
  rmSync(folder, { recursive: true, force: true })
})

const passing = (raw: string, more: Partial<Mail> = {}): Mail => ({
  direction: 'inbound',
  organizationId: acme.organizationId,
  sender: 'ada@far.test',
  recipients: ['admin@acme.test'],
  login: undefined,
  clientIp: '192.0.2.1',
  message: new MimeMessage(Buffer.from(raw)),
  ...more,
})
const delivered = async (mail: Mail): Promise<string> => {
  const outcome = await stage.apply(mail)
  if (outcome.kind !== 'pass') throw new Error(outcome.kind)
  return outcome.mails[0]?.message.raw.toString() ?? ''
}
const html = (body: string) =>
  `From: ada@far.test\r\nDKIM-Signature: v=1; b=x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${body}`
/** The path of the protected link that a delivered message has for this address. */
async function linkTo(address: string, more: Partial<Mail> = {}): Promise<string> {
  const text = await delivered(
    passing(html(`<a href="${address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`), more),
  )
  return new RegExp(`href="${BASE}(/safe/[^"]+)"`).exec(text)?.[1] ?? ''
}
const click = (path: string, more: Record<string, string> = {}, method = 'GET') =>
  app.send(method, path, { from: newIp(), headers: { 'user-agent': BROWSER, ...more } })
const scan = async (url: string, client: Pick<typeof acme, 'post'> = acme) => {
  const { body } = await client.post(`${API}/scan`, { url })
  return { verdict: body.data.verdict, reasons: body.data.reasons }
}

describe('incoming mail', () => {
  it('keeps its links unless the organization asks for protection', async () => {
    const raw = html('<a href="https://x.test/">')
    const off = { organizationId: globex.organizationId }
    expect(await delivered(passing(raw, off))).toBe(raw)
    expect((await globex.get(`${API}/settings`)).body.data).toEqual({
      enabled: false,
      updated_at: null,
    })
    await globex.put(`${API}/settings`, { enabled: true })
    expect(await delivered(passing(raw, off))).toContain(`${BASE}/safe/`)
    await globex.put(`${API}/settings`, { enabled: false })
    expect(await delivered(passing(raw, off))).toBe(raw)
  })

  it('keeps its links on the way out, and when it is no valid message', async () => {
    const raw = html('<a href="https://x.test/">')
    expect(await delivered(passing(raw, { direction: 'outbound' }))).toBe(raw)
    expect(await delivered(passing('nonsense'))).toBe('nonsense')
  })

  it('keeps links that lead over the check already, and links to allowed hosts', async () => {
    const once = await delivered(passing(html('<a href="https://x.test/">')))
    expect(await delivered(passing(once))).toBe(once)
    const { body } = await acme.post(`${API}/blocklist`, {
      entry_type: 'allowlist',
      entry: 'intra.test',
    })
    expect(await linkTo('https://www.intra.test/')).toBe('')
    expect(await linkTo('https://www.intra.test@evil.test/')).not.toBe('')
    await acme.delete(`${API}/blocklist/${body.data.id}`)
    expect(await linkTo('https://www.intra.test/')).not.toBe('')
    // A link of another organization is checked again for this one.
    const foreign = once.replace(acme.organizationId, globex.organizationId)
    expect(await delivered(passing(foreign))).not.toBe(foreign)
  })

  it('cannot be protected without a public URL, and says so', async () => {
    const bare = await startApp({ database: app.database })
    const key = await bare.key(globex.organizationId)
    const refused = await key.put(`${API}/settings`, { enabled: true })
    expect(refused).toMatchObject({
      status: 503,
      body: { msg: expect.stringContaining('SVC_PUBLIC_URL') },
    })
    await bare.stop()
  })

  it('passes unchanged when the links cannot be rewritten', async () => {
    const db = undefined as unknown as App['core']['db']
    const broken = urlProtectionStage({ ...app.core, db })
    const mail = passing(html('<a href="https://x.test/">'))
    const config = { ...app.core.config, SVC_PUBLIC_URL: 'https://mail.acme.test' }
    const workers = { ...app.core.workers, run: () => Promise.reject(new Error('no threads')) }
    const failing = urlProtectionStage({ ...app.core, config, workers })
    expect(await failing.apply(mail)).toEqual({ kind: 'pass', mails: [mail] })
    // The setting of the organization is not guessed: the sender tries again later.
    await expect(broken.apply(mail)).rejects.toThrow()
    await failing.stop?.()
    await broken.stop?.()
  })
})

describe('a click on a link', () => {
  it('leads to a safe address, byte for byte and without a referrer', async () => {
    const address = 'https://shop.test/a%2fb/?q=1&r=%C3%BC;x#frag'
    const answer = await click(await linkTo(address))
    expect(answer.status).toBe(302)
    expect(answer.headers).toMatchObject({ location: address, 'referrer-policy': 'no-referrer' })
    expect(answer.text).toBe('')
  })

  it('is not found after a change, and redirects nowhere', async () => {
    const path = await linkTo('https://shop.test/')
    for (const changed of [
      path.slice(0, -1),
      `${path}A`,
      path.replace(acme.organizationId, globex.organizationId),
      path.replace(/[^/]+$/, Buffer.from('https://evil.test/').toString('base64url')),
      '/safe/',
      '/safe/x/y',
      '/safe/https://evil.test/',
    ]) {
      const answer = await click(changed)
      expect(answer.status, changed).toBe(404)
      expect(answer.headers.location).toBeUndefined()
      expect(answer.text).toContain('This link does not work')
    }
  })

  it('takes the fields of a form along, and of nothing else', async () => {
    const text = await delivered(passing(html('<form action="https://shop.test/f?old=1">')))
    const path = new RegExp(`action="${BASE}(/safe/[^"]+)"`).exec(text)?.[1] ?? ''
    expect((await click(path)).headers.location).toBe('https://shop.test/f?old=1')
    expect((await click(`${path}?a=b&c`)).headers.location).toBe('https://shop.test/f?a=b&c')
    const posted = await app.send('POST', path, {
      from: newIp(),
      raw: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(posted).toMatchObject({
      status: 307,
      headers: { location: 'https://shop.test/f?old=1' },
    })
    const link = await linkTo('https://shop.test/?old=1')
    expect((await click(`${link}?a=b`)).headers.location).toBe('https://shop.test/?old=1')
    expect((await click(link, {}, 'POST')).status).toBe(404)
  })

  it('to a suspicious address shows the whole address and a button, in the language of the reader', async () => {
    const address = 'https://user@203.0.113.9/"><script>alert(1)</script>'
    const path = await linkTo(address)
    const answer = await click(path)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('Look twice before you open this link')
    expect(answer.text).toMatch(/<dd class="host">203\.0\.113\.9</)
    expect(answer.text).toContain(
      'https://user@203.0.113.9/%22%3E%3Cscript%3Ealert(1)%3C/script%3E',
    )
    expect(answer.text).toMatch(/<a class="button"[^>]*>Open it anyway</)
    expect(answer.text).not.toMatch(/<script/i)
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    )
    expect((await click(path, { 'accept-language': 'de-AT' })).text).toContain('Trotzdem öffnen')
  })

  it('to a blocked address is 403 with a page and no way on', async () => {
    const path = await linkTo('https://www.listed.test/x')
    const answer = await click(path)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('This link is blocked')
    expect(answer.text).not.toContain('class="button"')
    expect(answer.headers.location).toBeUndefined()
  })

  it('is stored with a shortened client address; HEAD and scanners count no click', async () => {
    const path = await linkTo('https://counted.test/?email=admin@acme.test')
    expect((await click(path, {}, 'HEAD')).status).toBe(302)
    await click(path, { 'user-agent': 'Mozilla/5.0 (compatible; Barracuda Sentinel)' })
    await click(path, { 'sec-purpose': 'prefetch' })
    await app.send('GET', path, { from: '127.9.8.7', headers: { 'user-agent': BROWSER } })
    const list = () => acme.get(`${API}/clicks?url_domain=counted.test`)
    const items = await waitFor(async () => {
      const { body } = await list()
      return body.data.items.length > 0 && body.data.items
    })
    expect(items).toEqual([
      expect.objectContaining({
        url: 'https://counted.test/?email=admin@acme.test',
        scan_result: 'safe',
        client_network: '127.9.8.0',
        organization_id: acme.organizationId,
      }),
    ])
    expect((await globex.get(`${API}/clicks`)).body.data.items).toEqual([])
    app.clock.advance(31 * DAY_MS)
    await forgetClicks.run(app.core)
    app.clock.reset()
    expect((await list()).body.data.pagination.total).toBe(0)
  })

  it('is limited per client address', async () => {
    const from = newIp()
    const path = await linkTo('https://shop.test/')
    const codes = new Set<number>()
    for (let sent = 0; sent <= 300; sent++)
      codes.add((await app.send('GET', path, { from })).status)
    expect([...codes]).toEqual([302, 429])
  })

  it('works for a year after its key was retired, and not longer', async () => {
    const admin = await app.operator('admin')
    const before = await linkTo('https://shop.test/')
    const rotated = await admin.post(`${API}/keys/rotate`, { reason: 'yearly' })
    expect(rotated).toMatchObject({
      status: 200,
      body: { data: { retired_at: null, ends_at: null } },
    })
    const after = await linkTo('https://shop.test/')
    expect(after.slice(0, 10)).not.toBe(before.slice(0, 10))
    app.clock.advance(364 * DAY_MS)
    expect([(await click(before)).status, (await click(after)).status]).toEqual([302, 302])
    app.clock.advance(2 * DAY_MS)
    expect([(await click(before)).status, (await click(after)).status]).toEqual([404, 302])
    app.clock.reset()
    const { body } = await (await app.operator('support')).get(`${API}/keys`)
    expect(body.data.map(({ retired_at }: { retired_at: string }) => retired_at !== null)).toEqual([
      false,
      true,
    ])
  })
})

describe('the check of an address', () => {
  it.each([
    ['https://example.test/', 'safe', []],
    ['https://203.0.113.9/', 'suspicious', ['ip_address']],
    ['http://0x7f.1/', 'suspicious', ['ip_address']],
    ['https://[2001:db8::1]/', 'suspicious', ['ip_address']],
    ['https://acme.test@evil.test/', 'suspicious', ['user_part']],
    ['https://аcme.test/', 'suspicious', ['look_alike', 'mixed_scripts']],
    ['https://acrne.test/', 'suspicious', ['look_alike']],
    ['https://acme.test.evil.test/', 'suspicious', ['look_alike']],
    ['https://www.acme.test/', 'safe', []],
    ['https://a.listed.test/', 'blocked', ['feed']],
    ['https://shop.test/stolen/car?x', 'blocked', ['feed']],
    ['https://shop.test/stolenx', 'safe', []],
  ])('finds %s to be %s', async (url, verdict, reasons) => {
    expect(await scan(url)).toEqual({ verdict, reasons })
  })

  it.each(['javascript:alert(1)', 'ftp://x.test/', 'x.test', ''])('refuses %j', async (url) => {
    expect((await acme.post(`${API}/scan`, { url })).status).toBe(422)
  })

  it('goes by the list of the organization, then by that of the operator', async () => {
    const staff = await app.operator('operator')
    const global = (entry_type: string, entry: string) =>
      staff.post(`${API}/global/blocklist`, { entry_type, entry, reason: 'campaign' })
    const own = (entry_type: string, entry: string) =>
      acme.post(`${API}/blocklist`, { entry_type, entry })
    expect((await global('domain', 'Global.test')).status).toBe(201)
    expect(await scan('https://x.global.test/')).toEqual({
      verdict: 'blocked',
      reasons: ['blocked_by_operator'],
    })
    await own('allowlist', 'global.test')
    expect(await scan('https://x.global.test/')).toEqual({
      verdict: 'safe',
      reasons: ['allowed_by_organization'],
    })
    expect(await scan('https://x.global.test/', globex)).toMatchObject({ verdict: 'blocked' })
    await own('url', 'https://own.test/bad')
    await own('pattern', 'login-[0-9]+\\.test/')
    const blocked = { verdict: 'blocked', reasons: ['blocked_by_organization'] }
    expect(await scan('https://own.test/bad/x')).toEqual(blocked)
    expect(await scan('https://own.test/')).toMatchObject({ verdict: 'safe' })
    expect(await scan('https://LOGIN-77.test/x')).toEqual(blocked)
    expect(await scan('https://login-77.test/x', globex)).toMatchObject({ verdict: 'safe' })
    await global('allowlist', 'listed.test/fine')
    expect(await scan('https://listed.test/fine', globex)).toEqual({
      verdict: 'safe',
      reasons: ['allowed_by_operator'],
    })
  })

  it('reads feed files again when they change, and keeps the last one when that fails', async () => {
    const support = await app.operator('support')
    const state = async () => (await support.get(`${API}/feeds`)).body.data[0]
    const replace = (text: string) => {
      writeFileSync(`${feedFile}.new`, text)
      renameSync(`${feedFile}.new`, feedFile)
    }
    replace('listed.test\nshop.test/stolen\nfresh.test\n!!\n')
    await waitFor(async () => (await scan('https://fresh.test/')).verdict === 'blocked')
    expect(await state()).toMatchObject({ path: feedFile, entries: 3, problem: null })
    rmSync(feedFile)
    await waitFor(async () => (await state()).problem !== null)
    expect(await scan('https://fresh.test/')).toMatchObject({ verdict: 'blocked' })
    replace('listed.test\nshop.test/stolen\n')
    await waitFor(async () => (await scan('https://fresh.test/')).verdict === 'safe')
  })

  it('asks the DNS lists that are configured, and passes links while they are silent', async () => {
    dns.state.records['dns.test.dbl.test'] = { A: ['127.0.1.2'] }
    dns.state.records['refusing.test.dbl.test'] = { A: ['127.255.255.254'] }
    await waitFor(async () => (await scan('https://dns.test/')).reasons[0] === 'dns_list')
    expect(await scan('https://refusing.test/')).toMatchObject({ verdict: 'safe' })
    dns.state.silent = true
    expect(await scan('https://silent.test/')).toMatchObject({ verdict: 'safe' })
    dns.reset()
  })
})

it('other services of the installation rewrite pages and scan addresses with their token', async () => {
  const internal = (path: string, body: unknown) =>
    app.send('POST', path, { body, headers: { 'x-internal-token': INTERNAL_TOKEN } })
  const page = '<a href="https://x.test/">x</a><a href="mailto:a@b.test">'
  const sent = { html_content: page, organization_id: acme.organizationId, message_id: 'm' }
  expect((await app.send('POST', '/rewrite', { body: sent })).status).toBe(401)
  const { body } = await internal('/rewrite', sent)
  expect(body).toMatchObject({ urls_found: 1, urls_rewritten: 1 })
  expect(body.rewritten_html).toContain(`${BASE}/safe/`)
  expect((await internal('/scan', { url: 'https://listed.test/' })).body).toMatchObject({
    verdict: 'blocked',
  })
  const entry = { organization_id: null, entry: 'internal.test', entry_type: 'domain', reason: 'x' }
  expect((await internal('/blocklist', entry)).body).toMatchObject({
    status: 'ok',
    entry: 'internal.test',
  })
  expect(await scan('https://internal.test/')).toMatchObject({ verdict: 'blocked' })
})
