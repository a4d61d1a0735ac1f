import { beforeEach, expect, it, vi } from 'vitest'
import type { Feeds, Handlers } from './listen.ts'
import { openWatchedCache, type WatchedCache } from './watched-cache.ts'

interface Row {
  organization: string
}

let handlers: Handlers
let connected: boolean
let cache: WatchedCache<Row>
const listen: Feeds['listen'] = async (_channel, given) => {
  handlers = given
  return {
    get connected() {
      return connected
    },
    settled: async () => {},
    close: async () => {},
  }
}
const row = (organization: string) => async () => ({ organization })

beforeEach(async () => {
  connected = true
  const opened = await openWatchedCache<Row>(listen, {
    channel: 'changes',
    max: 3,
    tagsOf: ({ organization }, key) => [key, `organization:${organization}`],
  })
  cache = opened.cache
})

it('returns a loaded value until a message names its key', async () => {
  const value = await cache.load('a', row('acme'))
  expect(cache.get('a')).toBe(value)
  handlers.message('b')
  expect(cache.get('a')).toBe(value)
  handlers.message('a')
  expect(cache.get('a')).toBeUndefined()
})

it('evicts every entry with the tag of a message, and no other', async () => {
  await cache.load('a', row('acme'))
  await cache.load('b', row('globex'))
  await cache.load('c', row('acme'))
  handlers.message('organization:acme')
  expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([false, true, false])
})

it('evicts the other entries with a tag after one of them left the cache', async () => {
  await cache.load('a', row('acme'))
  await cache.load('b', row('acme'))
  handlers.message('a')
  handlers.message('organization:acme')
  expect(cache.get('b')).toBeUndefined()
})

it('does not cache a value that was read before an eviction', async () => {
  let finish = () => {}
  const reading = cache.load('a', async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return { organization: 'acme' }
  })
  handlers.message('something else')
  finish()
  expect(await reading).toEqual({ organization: 'acme' })
  expect(cache.get('a')).toBeUndefined()
})

it('returns nothing while disconnected, but keeps the last value for an emergency', async () => {
  const value = await cache.load('a', row('acme'))
  connected = false
  expect(cache.get('a')).toBeUndefined()
  expect(cache.getStale('a')).toBe(value)
  await cache.load('b', row('acme'))
  expect(cache.get('b')).toBeUndefined()
  expect(cache.getStale('b')).toBeDefined()
})

it('evicts everything when it subscribes again', async () => {
  await cache.load('a', row('acme'))
  handlers.subscribed()
  expect(cache.getStale('a')).toBeUndefined()
})

it('forgets a value that is no longer found, and does not cache its absence', async () => {
  await cache.load('a', row('acme'))
  const read = vi.fn(async () => undefined)
  expect(await cache.load('a', read)).toBeUndefined()
  expect(cache.getStale('a')).toBeUndefined()
})

it('evicts the least recently used entry when it is full, with its tags', async () => {
  for (const key of ['a', 'b', 'c']) await cache.load(key, row('acme'))
  cache.get('a')
  await cache.load('d', row('acme'))
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd'])
})

it('follows the tags of the newest value', async () => {
  await cache.load('a', row('acme'))
  await cache.load('a', row('globex'))
  handlers.message('organization:acme')
  expect(cache.get('a')).toBeDefined()
  handlers.message('organization:globex')
  expect(cache.get('a')).toBeUndefined()
})
