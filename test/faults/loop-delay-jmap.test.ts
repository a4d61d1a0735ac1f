import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { type MeasuredServer, startMeasuredServer } from '../support/measured-server.ts'
import { cleanUp } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const BOUND_MS = 50
const COUNT = 300
const LONG_HEADERS = 60
const MAX_ANSWER_BYTES = 20_000_000

const htmlLetter = (at: number) =>
  [
    `From: Otto <otto@elsewhere.test>\r\nSubject: letter ${at}\r\nMessage-ID: <${at}@x>\r\n`,
    'Content-Type: text/html; charset=utf-8\r\n\r\n',
    `<p>${'Grüße "an" alle. '.repeat(1500)}</p>\r\n`,
  ].join('')
const longHeader = (at: number) =>
  `Subject: long ${at}\r\n${`X-Field: ${'v'.repeat(60)}\r\n`.repeat(4900)}\r\nText.\r\n`
const allOf = (resultOf: string) => ({ resultOf, name: 'Core/echo', path: '' })
const references = (count: number, resultOf: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`#${at}`, allOf(resultOf)]))

describe.skipIf(edgeMissing)(`the event loop of JMAP${skipped}`, () => {
  let host: MailHost
  let server: MeasuredServer
  let client: JmapClient
  beforeAll(async () => {
    host = await startMailHost()
    const acme = await host.app.tenant('acme')
    const imap = await openImap({ port: host.ports.imaps })
    await imap.login(acme.email, PASSWORD)
    await imap.command('CREATE Long')
    const append = async (folder: string, letters: string[]) => {
      const literals = letters.map((text) => `{${Buffer.byteLength(text)}+}\r\n${text}`)
      const { ok, status } = await imap.command(`APPEND ${folder} ${literals.join(' ')}`)
      expect(ok, status).toBe(true)
    }
    const numbers = (length: number) => Array.from({ length }, (_, at) => at)
    await append('INBOX', numbers(COUNT).map(htmlLetter))
    await append('Long', numbers(LONG_HEADERS).map(longHeader))
    imap.end()
    const { IMAP_MASTER_USER = '', IMAP_MASTER_PASSWORD = '' } = host.edge.environment
    server = await startMeasuredServer(host.app, {
      SVC_SERVICES: 'jmap',
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(host.ports.imaps),
      IMAP_MASTER_USER,
      IMAP_MASTER_PASSWORD,
    })
    client = await jmapClient(server.base, acme.email)
  })
  afterAll(async () => {
    await server?.stop()
    await host?.stop()
    await cleanUp()
  })

  const standstills = async (name: string, run: () => Promise<void>) =>
    expect(await server.standstills([{ name, run }], BOUND_MS)).toEqual([])
  /** Older messages are indexed after the first answer. */
  const idsIn = async (name: string, count: number): Promise<string[]> => {
    const folder = (await client.call('Mailbox/query', { filter: { name } })).ids[0]
    return waitFor(async () => {
      const { ids } = await client.call('Email/query', { filter: { inMailbox: folder } })
      return ids.length === count && ids
    })
  }

  it('does not stand still for echoes and references to them', async () => {
    await standstills('echoes', async () => {
      const { status, text } = await client.request([
        ['Core/echo', { x: 'y"'.repeat(2_000_000), z: Array(8000).fill({}) }, 'a'],
        ['Core/echo', references(2, 'a'), 'b'],
        ['Core/echo', references(1500, 'a'), 'c'],
        ['Core/echo', references(1500, 'b'), 'd'],
      ])
      expect(status).toBe(200)
      expect(text.length).toBeLessThan(MAX_ANSWER_BYTES + 10_000)
    })
  })

  it('does not stand still for hundreds of messages with their texts', async () => {
    const ids = await idsIn('INBOX', COUNT)
    await standstills('texts', async () => {
      const { list } = await client.call('Email/get', { ids, fetchAllBodyValues: true })
      expect(list).toHaveLength(COUNT)
    })
  })

  it('does not stand still for messages whose headers are too long for one answer', async () => {
    const ids = await idsIn('Long', LONG_HEADERS)
    await standstills('headers', async () => {
      const some = await client.call('Email/get', { ids: ids.slice(0, 5), properties: ['headers'] })
      expect(some.list).toHaveLength(5)
      expect(some.list[0].headers).toHaveLength(4901)
      const all = await client.call('Email/get', { ids, properties: ['headers'] })
      expect(all).toMatchObject({ type: 'requestTooLarge' })
    })
  })

  it('does not stand still for a search with thousands of words', async () => {
    const emailIds = await idsIn('INBOX', COUNT)
    const text = Array.from({ length: 5000 }, (_, at) => `word${at}`).join(' ')
    await standstills('words', async () => {
      const { list } = await client.call('SearchSnippet/get', {
        emailIds: emailIds.slice(0, 50),
        filter: { text: `alle ${text}` },
      })
      expect(list).toHaveLength(50)
      expect(list[0].preview).toContain('<mark>alle</mark>')
    })
  })
})
