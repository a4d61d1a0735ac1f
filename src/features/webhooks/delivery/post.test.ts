import { afterEach, expect, it } from 'vitest'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { poster } from './post.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function setUp(...reply: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...reply)
  const http = poster(5, 2)
  cleanUps.push(http.close, receiver.stop)
  return { receiver, http }
}

it('waits for an answer longer than it keeps an idle connection', async () => {
  const { receiver, http } = await setUp((_received, response) => {
    setTimeout(() => response.end('{}'), 1300)
  })
  expect(await http.post(receiver.url, {}, '{}')).toEqual({ status: 200, error: null })
})

it('says what is wrong with a header that cannot be sent', async () => {
  const { receiver, http } = await setUp()
  const { status, error } = await http.post(receiver.url, { 'x-webhook-event': 'a\nb' }, '{}')
  expect([status, error]).toEqual([0, expect.stringContaining('x-webhook-event')])
  expect(receiver.got).toEqual([])
})
