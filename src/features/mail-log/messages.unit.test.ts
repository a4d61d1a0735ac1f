import { expect, it } from 'vitest'
import { messagesUnderWay } from './messages.ts'
import { sameRows } from './same-rows.ts'

it('evicts the least recently logged message at the limit', () => {
  const messages = messagesUnderWay([], 3)
  for (const queueId of ['a', 'b', 'c']) messages.note(queueId, { subject: queueId })
  messages.takeChanges()
  messages.note('a', { sender: 'x@y.test' })
  messages.note('d', {})
  expect(messages.size).toBe(3)
  expect(messages.find('b')).toBeUndefined()
  expect(messages.takeChanges()).toEqual({
    changed: [{ queueId: 'a', subject: 'a', sender: 'x@y.test' }, { queueId: 'd' }],
    gone: ['b'],
  })
})

it('stores no message that was added and removed between two calls of takeChanges', () => {
  const messages = messagesUnderWay([])
  messages.note('a', { subject: 'x' })
  messages.remove('a')
  expect(messages.takeChanges()).toEqual({ changed: [], gone: [] })
})

it('drops the data of an earlier message with the same queue id', () => {
  const messages = messagesUnderWay([{ queueId: 'a', saslUsername: 'me', subject: 'old' }])
  messages.begin('a', { client: '192.0.2.1' })
  expect(messages.find('a')).toEqual({ queueId: 'a', client: '192.0.2.1' })
  expect(messages.takeChanges()).toMatchObject({ changed: [{ queueId: 'a' }], gone: [] })
})

it('links a returned message by its sender, once', () => {
  const first = { queueId: 'a', saslUsername: 'me', messageId: '<1>', sender: 's@t.test' }
  const messages = messagesUnderWay([{ ...first, handedOver: true }])
  messages.remove('a')
  expect(messages.linkTo('<1>', 'other@t.test')).toBeUndefined()
  expect(messages.linkTo('<1>', 's@t.test')).toBe('me')
  expect(messages.linkTo('<1>', 's@t.test')).toBeUndefined()
  expect(messages.size).toBe(0)
})

it('keeps at most 1000 deferred recipients of a message', () => {
  const messages = messagesUnderWay([])
  for (let i = 0; i < 1500; i++) {
    messages.noteDeferred('a', { recipient: `r${i}`, relay: '', dsn: null, detail: '' })
  }
  expect(messages.find('a')?.deferred).toHaveLength(1000)
  messages.noteDone('a', 'r1499')
  expect(messages.find('a')?.deferred).toHaveLength(999)
})

it('numbers equal rows identically when it continues from a stored state', () => {
  const whole = sameRows([])
  const all = ['x', 'y', 'x', 'x'].map((key) => whole.distinct(key, 1000))
  const first = sameRows([])
  const begun = ['x', 'y'].map((key) => first.distinct(key, 1000))
  const second = sameRows(first.take())
  expect([...begun, ...['x', 'x'].map((key) => second.distinct(key, 1000))]).toEqual(all)
  expect(new Set(all).size).toBe(4)
  second.distinct('z', 10_000)
  expect(second.take()).toEqual([['z', 10_000, 1]])
})
