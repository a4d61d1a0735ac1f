import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMessage } from '../src/features/webhooks/channel/message.ts'
import { INTERNAL_TOKEN, PASSWORD } from './support/app.ts'
import { type AppWithDns, startAppWithDns } from './support/app-with-dns.ts'
import { blocksOf, pages } from './support/documentation.ts'

const CALL = /\b(curl|redis-cli) /

/** The shell blocks with calls, by page. test/faults/documented-commands.test.ts runs the README. */
const blocks = pages
  .filter(({ path }) => path.startsWith('docs/'))
  .flatMap(({ path, text }) =>
    blocksOf(text)
      .filter(({ language, text: script }) => language === 'sh' && CALL.test(script))
      .map(({ text: script }) => ({ path, script })),
  )
const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''

describe('the calls in the documentation', () => {
  let app: AppWithDns['app']
  let dns: AppWithDns['dns']
  let stop: AppWithDns['stop']
  let acme: Awaited<ReturnType<AppWithDns['app']['tenant']>>
  let domainId: string
  let folder: string
  beforeAll(async () => {
    ;({ app, dns, stop } = await startAppWithDns())
    acme = await app.tenant('acme')
    domainId = (await app.hostedDomain(acme, { domain: 'acme.example' })).id
    await acme.post('/api/v1/mailboxes/email-accounts', {
      email: 'jane@acme.example',
      password: PASSWORD,
    })
    folder = mkdtempSync(join(tmpdir(), 'mailplane-calls-'))
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'internal-token'), INTERNAL_TOKEN)
    const { jar } = await app.operator('operator')
    const cookies = [...jar].map((pair) => ['127.0.0.1', 'FALSE', '/', 'FALSE', '0', ...pair])
    writeFileSync(join(folder, 'operator'), cookies.map((one) => `${one.join('\t')}\n`).join(''))
  })
  afterAll(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })

  const blockWith = (part: string): string => {
    const found = blocks.filter(({ script }) => script.includes(part))
    expect(found, part).toHaveLength(1)
    return found[0]?.script ?? ''
  }
  /** Runs a block after the functions of the README, with the address of the test server. */
  async function run(part: string, env: Record<string, string> = {}) {
    const functions = readme.match(/^\w+\(\) \{.*\}$/gm) ?? []
    const script = blockWith(part).replace(/http:\/\/127\.0\.0\.1:\d+/g, app.base)
    const child = spawn('/bin/sh', ['-euc', [...functions, script].join('\n')], {
      cwd: folder,
      env: { PATH: process.env.PATH, URL: app.base, KEY: acme.apiKey, ...env },
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (more) => {
        text += more
      })
    }
    const [code] = await once(child, 'close')
    return { code, text }
  }

  it('are all run here', () => {
    expect(blocks.map(({ path }) => path).sort()).toEqual([
      'docs/migration.md',
      'docs/operations.md',
      'docs/reputation.md',
      'docs/templates.md',
      'docs/tenants.md',
      'docs/tenants.md',
      'docs/webhooks.md',
      'docs/webhooks.md',
    ])
  })

  it('read the health of the server', async () => {
    const { code, text } = await run('/health')
    expect(code).toBe(0)
    expect(text).toContain('"status"')
  })

  it('start a migration', async () => {
    expect((await run('/migration/import')).text).toContain('"status":"pending"')
  })

  it('send a message', async () => {
    expect((await run('/api/v1/messages/')).text).toContain('"message_id"')
  })

  it('store an event of a mail program', async () => {
    expect((await run('/webhook/email/imap')).text).toContain('"status":"success"')
  })

  it('rotate a DKIM key and sign with it once DNS shows its record', async () => {
    const rotated = await run('/dkim/rotate', { DOMAIN_ID: domainId })
    expect(rotated.code, rotated.text).toBe(0)
    const { selector, record_name, record_value } = JSON.parse(
      rotated.text.slice(rotated.text.indexOf('{"type"')),
    ).data
    dns.state.records[record_name] = { TXT: [record_value] }
    const activated = await run('/activate', { DOMAIN_ID: domainId, SELECTOR: selector })
    expect(activated.code, activated.text).toBe(0)
  })

  const hasJq = spawnSync('jq', ['--version']).status === 0
  it.skipIf(!hasJq)('pass a feedback report on (needs jq)', async () => {
    const report = [
      'From: <fbl@isp.example>',
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'Version: 1',
      'Original-Rcpt-To: far@isp.example',
      'Original-Mail-From: <news@acme.example>',
      '',
      '--b--',
    ]
    writeFileSync(join(folder, 'report.eml'), report.join('\r\n'))
    const { code, text } = await run('/feedback-loop')
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('recorded') })
  })

  it('publish a message that the channel accepts', async () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'redis-cli'), '#!/bin/sh\nprintf %s "$3" > message\n', { mode: 0o755 })
    const PATH = [bin, process.env.PATH].join(delimiter)
    expect((await run('redis-cli publish', { PATH })).code).toBe(0)
    expect(readMessage(readFileSync(join(folder, 'message')))).toMatchObject({
      domain: 'acme.example',
      data: { user: 'ada@acme.example' },
    })
  })
})
