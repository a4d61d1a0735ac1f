import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { makeCertificate } from '../../../test/support/certificates.ts'

const HOST = 'mail.host.test'

let app: App
let folder: string
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-autoconfig-'))
  app = await startApp({
    env: {
      SVC_MAIL_HOSTNAME: HOST,
      SVC_PUBLIC_URL: 'https://panel.host.test',
      SVC_CERTIFICATE_DIR: folder,
    },
  })
  acme = await app.tenant('acme')
  await acme.post('/api/v1/domains/', { domain: 'pending.test' })
  const off = await app.hostedDomain(acme, { domain: 'off.test' })
  await acme.put(`/api/v1/domains/${off.id}`, { active: false })
  const closed = await app.tenant('closed')
  await app.core.db
    .updateTable('organizations')
    .set({ active: false })
    .where('id', '=', closed.organizationId)
    .execute()
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

const NOT_HOSTED = ['unknown.test', 'pending.test', 'off.test', 'closed.test']

let client = 10
/** Each request from its own address, so that the limit does not interfere. */
const request = (method: string, path: string, options: Parameters<App['send']>[2] = {}) =>
  app.send(method, path, { from: `127.0.0.${client++ % 200}`, ...options })
const at = (host: string, path: string) => request('GET', path, { headers: { host } })

const POX = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006'
const pox = (address: string) =>
  `<?xml version="1.0"?><Autodiscover xmlns="${POX}"><Request><EMailAddress>${address}</EMailAddress></Request></Autodiscover>`
const discover = (raw: string | Buffer, path = '/autodiscover/autodiscover.xml') =>
  request('POST', path, { raw, headers: { 'content-type': 'text/xml' } })

/** The text of an element, by its path of names; throws unless the document is well-formed. */
const python = (code: string, input: string | Buffer) => {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', code], { input })
  expect(stderr.toString()).toBe('')
  expect(status).toBe(0)
  return JSON.parse(stdout.toString())
}
const SERVERS = `
import json, sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
kinds = ('incomingServer', 'outgoingServer', 'Protocol')
print(json.dumps([{child.tag.split('}')[-1]: child.text for child in one}
  for one in root.iter() if one.tag.split('}')[-1] in kinds]))`

describe('the settings for Thunderbird', () => {
  const PATHS = ['/mail/config-v1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml']

  it.each(PATHS)('are at %s, by address or by the name of the host', async (path) => {
    const answer = await request('GET', `${path}?emailaddress=jane%40ACME.test`)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/xml; charset=utf-8')
    expect(python(SERVERS, answer.text)).toMatchObject([
      { hostname: HOST, port: '993', socketType: 'SSL', username: '%EMAILADDRESS%' },
      { hostname: HOST, port: '995', socketType: 'SSL', username: '%EMAILADDRESS%' },
      { hostname: HOST, port: '465', socketType: 'SSL', username: '%EMAILADDRESS%' },
      { hostname: HOST, port: '587', socketType: 'STARTTLS', username: '%EMAILADDRESS%' },
    ])
    for (const host of ['autoconfig.acme.test', 'acme.test', 'Autoconfig.Acme.Test:443']) {
      expect((await at(host, path)).text).toBe(answer.text)
    }
    expect(answer.text).not.toContain('OAuth2')
    expect(answer.text).not.toContain('dav')
  })

  it('name calendars and contacts while the service caldav runs', async () => {
    const seen_at = app.clock.now().toISOString()
    const beat = { instance: 'one', name: 'caldav', host: 'x', address: 'http://x', seen_at }
    await app.core.db
      .insertInto('daemon_heartbeats')
      .values({ ...beat, started_at: seen_at })
      .execute()
    const { text } = await at('acme.test', '/mail/config-v1.1.xml')
    await app.core.db.deleteFrom('daemon_heartbeats').execute()
    expect(text.match(/<serverURL>https:\/\/panel\.host\.test\/dav\/<\/serverURL>/g)).toHaveLength(
      2,
    )
  })

  it.each(NOT_HOSTED)('are not found for %s', async (domain) => {
    for (const path of PATHS) {
      expect((await request('GET', `${path}?emailaddress=jane@${domain}`)).status).toBe(404)
      expect((await at(`autoconfig.${domain}`, path)).status).toBe(404)
    }
  })

  it.each(['', 'jane', '@', 'jane@', 'a b@acme.test', '%3Cx%3E@acme.test'])(
    'answer the address %j with 400',
    async (address) => {
      const path = `/mail/config-v1.1.xml?emailaddress=${address.replace(' ', '%20')}`
      expect((await request('GET', path)).status).toBe(400)
    },
  )
})

describe('Autodiscover', () => {
  it.each([
    '/autodiscover/autodiscover.xml',
    '/Autodiscover/Autodiscover.xml',
    '/AUTODISCOVER/AUTODISCOVER.XML',
    '/AutoDiscover/AutoDiscover.xml',
  ])('answers at %s', async (path) => {
    const answer = await discover(pox('Jane@acme.test'), path)
    expect(answer.status).toBe(200)
    expect(python(SERVERS, answer.text)).toMatchObject([
      { Type: 'IMAP', Server: HOST, Port: '993', LoginName: 'jane@acme.test', SSL: 'on' },
      { Type: 'POP3', Port: '995' },
      { Type: 'SMTP', Port: '465', Encryption: 'SSL' },
      { Type: 'SMTP', Port: '587', Encryption: 'TLS' },
    ])
  })

  it.each(NOT_HOSTED)('answers %s with 404 and an error of its own form', async (domain) => {
    const answer = await discover(pox(`jane@${domain}`))
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('<ErrorCode>500</ErrorCode>')
    const json = `/autodiscover/autodiscover.json?Email=jane@${domain}&Protocol=AutodiscoverV1`
    expect((await request('GET', json)).status).toBe(404)
  })

  it.each([
    ['a DOCTYPE', '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'],
    ['an external entity', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'],
    ['an undefined entity', pox('&secret;')],
    ['deep nesting', `${'<a>'.repeat(21)}${'</a>'.repeat(21)}`],
    ['many elements', `<a>${'<b/>'.repeat(300)}</a>`],
    ['many attributes', `<a ${Array.from({ length: 300 }, (_, at) => `a${at}=""`).join(' ')}/>`],
    ['an open element', '<Autodiscover><Request>'],
    ['no XML', '{"EMailAddress":"jane@acme.test"}'],
    ['an undeclared prefix', '<x:Autodiscover/>'],
    ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x00, 0x3c])],
    ['no address', pox('')],
    ['nothing', ''],
    ['markup as the address', pox('&lt;b&gt;@acme.test')],
  ])('rejects %s with 400', async (_what, body) => {
    const answer = await discover(body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('<ErrorCode>600</ErrorCode>')
    expect(answer.text).not.toContain('root:')
  })

  it('rejects a body above 64 KB before it is read', async () => {
    expect((await discover(pox(`${'a'.repeat(70_000)}@acme.test`))).status).toBe(413)
  })

  it('answers in JSON, for each protocol', async () => {
    const get = async (query: string) =>
      (await request('GET', `/Autodiscover/Autodiscover.json${query}`)).body
    expect(await get('?Email=jane@acme.test&Protocol=AutodiscoverV1')).toEqual({
      Protocol: 'AutodiscoverV1',
      Url: 'https://autodiscover.acme.test/autodiscover/autodiscover.xml',
    })
    expect(await get('/v1.0/jane@acme.test?Protocol=Imap')).toEqual({
      Protocol: 'IMAP',
      Url: `imaps://${HOST}:993`,
    })
    expect(await get('?Email=jane@acme.test&Protocol=__proto__')).toMatchObject({
      ErrorCode: 'ProtocolNotSupported',
    })
    const post = (body: unknown) => request('POST', '/autodiscover/autodiscover.json', { body })
    expect((await post({ EmailAddress: 'jane@acme.test' })).body.Protocol).toBe('IMAP')
    for (const body of [{}, [], 'jane@acme.test', null, { EmailAddress: 5 }]) {
      expect((await post(body)).status).toBe(400)
    }
  })
})

describe('the profile for Apple', () => {
  const path = '/apple/jane@acme.test.mobileconfig'
  const READ = `
import json, plistlib, sys
profile = plistlib.loads(sys.stdin.buffer.read())
print(json.dumps([profile['PayloadIdentifier'], profile['PayloadContent']]))`

  it('has the mail account, without a password, and is the same each time', async () => {
    const answer = await request('GET', path)
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/x-apple-aspen-config' },
    })
    const [identifier, content] = python(READ, answer.text)
    expect(identifier).toMatch(/^mailplane\./)
    expect(content).toMatchObject([
      {
        PayloadType: 'com.apple.mail.managed',
        EmailAddress: 'jane@acme.test',
        IncomingMailServerHostName: HOST,
        IncomingMailServerPortNumber: 993,
        OutgoingMailServerPortNumber: 465,
        OutgoingMailServerUseSSL: true,
      },
    ])
    expect(answer.text).not.toMatch(/Password<\/key><string>/)
    expect((await request('GET', path)).text).toBe(answer.text)
  })

  it.each([...NOT_HOSTED.map((domain) => `jane@${domain}`), 'jane@acme.test.test'])(
    'is not found for %s',
    async (address) => {
      expect((await request('GET', `/apple/${address}.mobileconfig`)).status).toBe(404)
    },
  )

  it('is on the own pages of a holder, for the own address alone', async () => {
    const path = '/api/v1/mailbox/apple-profile'
    const holder = await app.session('mailbox', acme.accountId)
    const answer = await holder.get(path)
    expect(answer.headers['content-disposition']).toContain('mail.mobileconfig')
    expect(python(READ, answer.text)[1]).toMatchObject([{ EmailAddress: acme.email }])
    expect((await app.send('GET', path)).status).toBe(401)
    expect((await acme.get(path)).status).toBe(401)
  })

  it('is found under no other name', async () => {
    for (const name of ['jane@acme.test', '..%2f..%2fetc%2fpasswd', 'jane.mobileconfig']) {
      expect([400, 404]).toContain((await request('GET', `/apple/${name}`)).status)
    }
  })

  it.each(['ec', 'rsa'] as const)('is signed with the %s certificate of the host', async (kind) => {
    const { key, certificate } = makeCertificate(HOST, kind)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${HOST}.pem`), key + certificate)
    const signed = await fetch(`${app.base}${path}`)
    const bytes = Buffer.from(await signed.arrayBuffer())
    writeFileSync(join(folder, 'root.crt.txt'), certificate)
    const { status, stdout, stderr } = spawnSync(
      'openssl',
      ['cms', '-verify', '-inform', 'DER', '-noverify', '-certfile', join(folder, 'root.crt.txt')],
      { input: bytes },
    )
    expect(stderr.toString()).toContain('successful')
    expect(status).toBe(0)
    expect(python(READ, stdout)[1]).toHaveLength(1)
    rmSync(join(folder, `${HOST}.pem`))
  })
})

describe('the limit per address', () => {
  it('answers 429 with the time to wait, and leaves other addresses alone', async () => {
    const ask = (from: string) => app.send('GET', '/mail/config-v1.1.xml', { from })
    const statuses = await Promise.all(Array.from({ length: 300 }, () => ask('127.0.1.1')))
    const refused = statuses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0)
    expect((await ask('127.0.1.2')).status).toBe(404)
  })
})
