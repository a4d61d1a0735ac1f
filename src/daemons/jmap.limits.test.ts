import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { type JmapClient, jmapClient, USING } from '../../test/support/jmap.ts'
import { waitFor } from '../../test/support/wait.ts'
import { jmap } from './jmap.ts'

const MAX_ANSWER_BYTES = 20_000_000

let app: App
let client: JmapClient
beforeAll(async () => {
  app = await startApp({ daemons: [jmap] })
  client = await jmapClient(app.base, (await app.tenant('acme')).email)
})
afterAll(() => app.stop())

/** Refers to all of the answer of an echo. */
const all = (resultOf: string) => ({ resultOf, name: 'Core/echo', path: '' })
const references = (count: number, resultOf: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`#${at}`, all(resultOf)]))
const small = ['Core/echo', { small: true }, 'last']
const tooLarge = { type: 'requestTooLarge', description: expect.stringContaining('too large') }

describe('the answer to a JMAP request', () => {
  it('has a limit when a call refers to an earlier answer five thousand times', async () => {
    const { status, text, body } = await client.request([
      ['Core/echo', { x: 'y'.repeat(1_000_000) }, 'a'],
      ['Core/echo', references(5_000, 'a'), 'b'],
      small,
    ])
    expect(status).toBe(200)
    expect(text.length).toBeLessThan(MAX_ANSWER_BYTES)
    const [echo, refused] = body.methodResponses
    expect(echo[1].x).toHaveLength(1_000_000)
    expect(refused).toEqual(['error', tooLarge, 'b'])
  })

  it('has a limit for all calls together when each doubles the answer before', async () => {
    const calls = Array.from({ length: 31 }, (_, at) => [
      'Core/echo',
      at === 0 ? { x: 'y'.repeat(100_000) } : references(2, String(at - 1)),
      String(at),
    ])
    const { text, body } = await client.request([...calls, small])
    expect(text.length).toBeLessThan(MAX_ANSWER_BYTES + 10_000)
    const names: string[] = body.methodResponses.map(([name]: [string]) => name)
    expect(names.slice(0, 6)).toEqual(Array(6).fill('Core/echo'))
    expect(body.methodResponses.find(([name]: [string]) => name === 'error')[1]).toEqual(tooLarge)
    expect(body.methodResponses.at(-1)).toEqual(small)
  })

  it('has a limit for many short values', async () => {
    const { text, body } = await client.request([
      ['Core/echo', { x: Array(70_000).fill(0) }, 'a'],
      ['Core/echo', references(5_000, 'a'), 'b'],
    ])
    expect(text.length).toBeLessThan(MAX_ANSWER_BYTES)
    expect(body.methodResponses[1]).toEqual(['error', tooLarge, 'b'])
  })

  it('is complete when it is large', async () => {
    const texts = ['ü😀"\\\n'.repeat(300_000), 'x'.repeat(2_000_000)]
    const list = Array.from({ length: 20_000 }, (_, at) => `entry ${at}`)
    const { body } = await client.request([
      ['Core/echo', { texts, list }, 'a'],
      ['Core/echo', { '#list': { resultOf: 'a', name: 'Core/echo', path: '/list/*' } }, 'b'],
    ])
    expect(body.methodResponses).toEqual([
      ['Core/echo', { texts, list }, 'a'],
      ['Core/echo', { list }, 'b'],
    ])
    expect(body.sessionState).toBe(client.session.state)
  })

  it('repeats no long text in its errors', async () => {
    const properties = { resultOf: 'a', name: 'Core/echo', path: '/x' }
    const calls = Array.from({ length: 15 }, (_, at) => [
      'PushSubscription/get',
      { '#properties': properties },
      String(at),
    ])
    const { text, body } = await client.request([
      ['Core/echo', { x: ['y'.repeat(1_000_000)] }, 'a'],
      ...calls,
    ])
    expect(text.length).toBeLessThan(1_100_000)
    expect(body.methodResponses[1]).toEqual(['error', { type: 'invalidArguments' }, '0'])
  })

  it('follows no reference with a path of thousands of steps', async () => {
    const path = '/x'.repeat(100_000)
    const { body } = await client.request([
      ['Core/echo', { x: {} }, 'a'],
      ['Core/echo', { '#y': { resultOf: 'a', name: 'Core/echo', path } }, 'b'],
    ])
    expect(body.methodResponses[1][1]).toEqual({ type: 'invalidResultReference' })
  })
})

describe('an id in a JMAP request', () => {
  it('has at most 255 octets', async () => {
    const ids = ['x'.repeat(255)]
    expect((await client.call('PushSubscription/get', { ids })).notFound).toEqual(ids)
    const long = 'ü'.repeat(128)
    for (const args of [
      { destroy: [long] },
      { update: { [long]: {} } },
      { create: { [long]: {} } },
    ]) {
      const answer = await client.call('PushSubscription/set', args)
      expect(answer, Object.keys(args)[0]).toMatchObject({ type: 'invalidArguments' })
    }
    const answer = await client.call('PushSubscription/get', { ids: [long] })
    expect(answer).toMatchObject({
      type: 'invalidArguments',
      description: expect.stringContaining('255'),
    })
  })

  it('has at most 255 octets among the ids of earlier requests', async () => {
    const body = { using: USING, methodCalls: [small], createdIds: { ['x'.repeat(256)]: 'y' } }
    const { headers } = client
    expect(await app.send('POST', '/jmap', { headers, body })).toMatchObject({
      status: 400,
      body: { type: 'urn:ietf:params:jmap:error:notRequest' },
    })
  })
})

describe('uploads at the same time', () => {
  it('share the room of the mailbox', async () => {
    const other = await app.tenant('full')
    await app.core.db
      .updateTable('email_accounts')
      .set({ storage_quota: 1000 })
      .where('id', '=', other.accountId)
      .execute()
    const { headers } = await jmapClient(app.base, other.email)
    const begin = () => {
      const upload = request(`${app.base}/jmap/upload/${other.accountId}/`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/plain', 'content-length': 600 },
      })
      upload.write('x'.repeat(300))
      return upload
    }
    const uploads = [begin(), begin()]
    const stored = () =>
      app.core.db
        .selectFrom('jmap_uploads')
        .select('size')
        .where('account_id', '=', other.accountId)
        .execute()
    await waitFor(async () => (await stored()).length === 2)
    const statuses: (number | undefined)[] = []
    for (const upload of uploads) {
      upload.end('x'.repeat(300))
      const [answer] = (await once(upload, 'response')) as [IncomingMessage]
      statuses.push(answer.statusCode)
      answer.resume()
    }
    expect(statuses).toEqual([201, 413])
    expect(await stored()).toEqual([{ size: 600 }])
  })
})
