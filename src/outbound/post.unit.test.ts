import { afterEach, expect, it } from 'vitest'
import { startReceiver } from '../../test/support/receiver.ts'
import { poster } from './post.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function setUp(...reply: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...reply)
  const http = poster({ timeoutSeconds: 5, connections: 2 })
  cleanUps.push(http.close, receiver.stop)
  return { receiver, http }
}

it('waits longer for a response than it keeps an idle connection', async () => {
  const { receiver, http } = await setUp((_received, response) => {
    setTimeout(() => response.end('{}'), 1300)
  })
  expect(await http.post(receiver.url, {}, '{}')).toEqual({ status: 200, error: null })
})

it('returns an error for a header that cannot be sent', async () => {
  const { receiver, http } = await setUp()
  const { status, error } = await http.post(receiver.url, { 'x-webhook-event': 'a\nb' }, '{}')
  expect([status, error]).toEqual([0, expect.stringContaining('x-webhook-event')])
  expect(receiver.got).toEqual([])
})

it('sends the host name and the login of the URL', async () => {
  const { receiver, http } = await setUp()
  const { host } = new URL(receiver.url)
  await http.post(`http://us%40er:p%C3%A4ss@${host}/hook?a=b`, { 'x-webhook-id': '1' }, '{"ä":1}')
  const login = Buffer.from('us@er:päss').toString('base64')
  expect(receiver.got[0]).toMatchObject({
    headers: { host, authorization: `Basic ${login}`, 'x-webhook-id': '1', 'content-length': '8' },
    json: { ä: 1 },
  })
})

it('sends a login with an unescaped percent sign', async () => {
  const { receiver, http } = await setUp()
  const { host } = new URL(receiver.url)
  expect(await http.post(`http://user:50%@${host}/`, {}, '{}')).toEqual({
    status: 200,
    error: null,
  })
  const login = Buffer.from('user:50%').toString('base64')
  expect(receiver.got[0]?.headers.authorization).toBe(`Basic ${login}`)
})
