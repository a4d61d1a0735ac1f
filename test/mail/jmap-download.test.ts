import { randomBytes } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/lib/tokens.ts'
import { PASSWORD, ROOT_KEY } from '../support/app.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type ImapClient, openImap } from '../support/imap-client.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const EMAIL = 'jane@acme.test'
const MB = 1024 * 1024

const FILE = randomBytes(29 * MB)
const lines = (FILE.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n')
const PLAIN = `${'A long line of text.\r\n'.repeat(100_000)}`
const LETTER = [
  'Subject: large',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  PLAIN,
  '--b',
  'Content-Type: text/plain',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  PLAIN.replaceAll('text', 't=65xt'),
  '--b',
  'Content-Type: application/octet-stream; name=file.bin',
  'Content-Transfer-Encoding: base64',
  '',
  lines,
  '--b--',
  '',
].join('\r\n')

describe.skipIf(edgeMissing)(`downloads over JMAP${skipped}`, () => {
  let host: MailHost
  let proxy: Awaited<ReturnType<typeof startCountingProxy>>
  let imap: ImapClient
  let jane: JmapClient
  let base: string
  const open = new Set<IncomingMessage>()
  beforeAll(async () => {
    host = await startMailHost()
    proxy = await startCountingProxy(host.ports.imaps)
    const acme = await host.app.tenant('acme')
    await acme.post(ACCOUNTS, { email: EMAIL, password: PASSWORD, name: 'Jane' })
    imap = await openImap({ port: host.ports.imaps })
    await imap.login(EMAIL, PASSWORD)
    await append()
    base = (await worker('600')).base
    jane = await jmapClient(base, EMAIL)
  })
  afterAll(async () => {
    for (const answer of open) answer.destroy()
    imap?.end()
    await cleanUp()
    await proxy?.stop()
    await host?.stop()
  })

  async function append() {
    const answer = await imap.command(`APPEND INBOX {${LETTER.length}+}\r\n${LETTER}`)
    expect(answer.ok, answer.status).toBe(true)
  }
  const worker = (stallSeconds: string) =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'jmap'],
      env: {
        DATABASE_URL: host.app.database.url,
        SVC_SECRET_KEY: ROOT_KEY,
        IMAP_HOST: '127.0.0.1',
        IMAP_PORT: String(proxy.port),
        IMAP_MASTER_USER: host.edge.environment.IMAP_MASTER_USER ?? '',
        IMAP_MASTER_PASSWORD: host.edge.environment.IMAP_MASTER_PASSWORD ?? '',
        JMAP_STALL_SECONDS: stallSeconds,
      },
    })
  const large = async () => {
    const { ids } = await jane.call('Email/query', { filter: { subject: 'large' } })
    return (await jane.call('Email/get', { ids, properties: ['blobId'] })).list[0].blobId as string
  }
  /** An answer whose body is not read yet. */
  const start = (blobId: string, from = base) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${from}/jmap/download/${jane.accountId}/${blobId}/x`
      // Each download has a connection of its own.
      const sent = get(url, { headers: jane.headers, agent: false }, (answer) => {
        open.add(answer.on('error', () => {}))
        resolve(answer)
      })
      sent.on('error', reject)
    })
  async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of answer) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  }
  /** Waits until the server reads nothing more than requests cost; requests are answered meanwhile. */
  const rested = () =>
    waitFor(async () => {
      const before = proxy.bytes
      await jane.call('Email/query', { limit: 1 })
      return proxy.bytes - before < 200_000
    })

  it('send a message of 40 MB and its parts byte for byte', async () => {
    const blobId = await large()
    const whole = await bytesOf(await start(blobId))
    expect(whole.length).toBe(LETTER.length)
    expect(sha256(whole.toString('latin1'))).toBe(sha256(LETTER))
    const file = await start(`${blobId}-3`)
    expect(file.headers['content-type']).toBe('application/octet-stream')
    expect((await bytesOf(file)).equals(FILE)).toBe(true)
    for (const part of ['1', '2']) {
      expect((await bytesOf(await start(`${blobId}-${part}`))).toString()).toBe(PLAIN)
    }
    expect((await start(`${blobId}-9`)).statusCode).toBe(404)
  })

  it('send a part of a large upload byte for byte', async () => {
    const { blobId } = await jane.upload(LETTER, 'message/rfc822')
    expect((await bytesOf(await start(`${blobId}-3`))).equals(FILE)).toBe(true)
    const whole = await start(blobId)
    expect(whole.headers['content-length']).toBe(String(LETTER.length))
    expect((await bytesOf(whole)).toString('latin1')).toBe(LETTER)
  })

  it('read from the mail server what a slow client takes, and let other requests pass', async () => {
    const blobId = await large()
    const before = proxy.bytes
    const answer = await start(blobId)
    await rested()
    expect(proxy.bytes - before).toBeLessThan(25 * MB)
    const whole = await bytesOf(answer)
    expect(sha256(whole.toString('latin1'))).toBe(sha256(LETTER))
  })

  it('end with their client, and are limited to eight at once', async () => {
    const blobId = await large()
    const stalled: IncomingMessage[] = []
    for (let at = 0; at < 8; at++) stalled.push(await start(blobId))
    await rested()
    expect((await start(blobId)).statusCode).toBe(429)
    const before = proxy.bytes
    for (const answer of stalled) answer.destroy()
    let next: IncomingMessage | undefined
    await waitFor(async () => {
      next = await start(blobId)
      return next.statusCode === 200
    })
    next?.destroy()
    await rested()
    // Eight clients would have taken 320 MB.
    expect(proxy.bytes - before).toBeLessThan(40 * MB)
  })

  it('end when their reader takes nothing for too long', async () => {
    const blobId = await large()
    const { base: impatient, stop } = await worker('1')
    const stalled: IncomingMessage[] = []
    for (let at = 0; at < 8; at++) stalled.push(await start(blobId, impatient))
    await waitFor(async () => {
      const next = await start(blobId, impatient)
      next.destroy()
      return next.statusCode === 200
    })
    const outcomes = await Promise.allSettled(stalled.map(bytesOf))
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    await stop()
  })

  it('take messages apart up to a limit, and send larger ones as a whole', async () => {
    const blobId = await large()
    const { db } = host.app.core
    await db.updateTable('jmap_emails').set({ size: 200_000_000 }).execute()
    expect((await start(`${blobId}-3`)).statusCode).toBe(413)
    expect((await bytesOf(await start(blobId))).length).toBe(LETTER.length)
    await db.updateTable('jmap_emails').set({ size: LETTER.length }).execute()
  })

  it('have no end when the message is removed meanwhile', async () => {
    const blobId = await large()
    const answer = await start(blobId)
    await rested()
    await imap.command('SELECT INBOX')
    await imap.command('STORE 1:* +FLAGS.SILENT (\\Deleted)')
    expect((await imap.command('EXPUNGE')).ok).toBe(true)
    await waitFor(async () => (await jane.call('Email/query', {})).ids.length === 0)
    await expect(bytesOf(answer)).rejects.toThrow(/aborted/)
    expect((await start(blobId)).statusCode).toBe(404)
  })
})
