import { type LruMap, lruMap } from '../lib/lru-map.ts'
import type { Feed, Feeds } from './listen.ts'

interface Options<Value> {
  max: number
  /** False while messages may be missed. */
  isConnected(): boolean
  /** An entry is evicted when a message names one of its tags. */
  tagsOf(value: Value, key: string): readonly string[]
}

/**
 * A bounded cache of rows that other processes may change. A database trigger notifies of every
 * change, and the message evicts the entries that it concerns. While the connection is down, `get`
 * returns nothing, so that the caller reads the database.
 */
export class WatchedCache<Value extends object> {
  readonly #entries: LruMap<string, Value>
  readonly #keysByTag = new Map<string, Set<string>>()
  readonly #options: Options<Value>
  #evictions = 0

  constructor(options: Options<Value>) {
    this.#options = options
    this.#entries = lruMap(options.max, (value, key) => this.#removeTags(value, key))
  }

  get(key: string): Value | undefined {
    return this.#options.isConnected() ? this.#entries.get(key) : undefined
  }

  /** The last known value, for a caller that cannot read the database. */
  getStale(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  /** Reads a value and caches it, unless something was evicted meanwhile: it may be outdated. */
  async load<Row extends Value | undefined>(key: string, read: () => Promise<Row>): Promise<Row> {
    const before = this.#evictions
    const value = await read()
    if (value === undefined) this.#entries.delete(key)
    else if (before === this.#evictions) this.#set(key, value)
    return value
  }

  evict(tag: string): void {
    this.#evictions++
    for (const key of [...(this.#keysByTag.get(tag) ?? [])]) this.#entries.delete(key)
  }

  evictAll(): void {
    this.#evictions++
    this.#entries.clear()
  }

  #set(key: string, value: Value): void {
    this.#entries.set(key, value)
    for (const tag of this.#options.tagsOf(value, key)) {
      const keys = this.#keysByTag.get(tag)
      if (keys) keys.add(key)
      else this.#keysByTag.set(tag, new Set([key]))
    }
  }

  #removeTags(value: Value, key: string): void {
    for (const tag of this.#options.tagsOf(value, key)) {
      const keys = this.#keysByTag.get(tag)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysByTag.delete(tag)
    }
  }
}

interface Watch<Value> extends Omit<Options<Value>, 'isConnected'> {
  channel: string
}

/** Opens a cache that follows a channel of its own. Each message on the channel is a tag. */
export async function openWatchedCache<Value extends object>(
  listen: Feeds['listen'],
  { channel, max, tagsOf }: Watch<Value>,
): Promise<{ cache: WatchedCache<Value>; feed: Feed }> {
  let feed: Feed | undefined
  const cache = new WatchedCache<Value>({
    max,
    tagsOf,
    isConnected: () => feed?.connected ?? false,
  })
  feed = await listen(channel, {
    message: (tag) => cache.evict(tag),
    // Messages were lost while the connection was down.
    subscribed: () => cache.evictAll(),
  })
  return { cache, feed }
}
