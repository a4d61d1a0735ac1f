import { LRUCache } from 'lru-cache'

type Present = NonNullable<unknown>

/**
 * A map of at most `max` entries that evicts the least recently used one. The limit is given to
 * lru-cache as a size, because it allocates the memory of all entries at once for a count.
 */
export const lruMap = <Key extends Present, Value extends Present>(
  max: number,
  evicted?: (value: Value, key: Key) => void,
) =>
  new LRUCache<Key, Value>({
    maxSize: max,
    sizeCalculation: () => 1,
    ...(evicted && { dispose: evicted }),
  })

export type LruMap<Key extends Present, Value extends Present> = LRUCache<Key, Value>
