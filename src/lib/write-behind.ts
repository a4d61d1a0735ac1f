import type { Log } from '../log.ts'

const CAPACITY = 20_000
const WAIT_MS = 200
const RETRY_MS = 2000

interface Needs<Item> {
  log: Log
  /** The name of the items, for the log. */
  name: string
  batch: number
  store(items: Item[]): Promise<void>
}

/**
 * Stores items in batches behind the answers, one batch at a time, so that no answer waits for the
 * database and a flood does not use up its connections. While the database is away items wait in
 * memory; those beyond the capacity are dropped and counted.
 */
export function writeBehind<Item>({ log, name, batch, store }: Needs<Item>) {
  let waiting: Item[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopping = false

  function schedule(ms: number): void {
    if (timer || isStopping) return
    timer = setTimeout(() => {
      timer = undefined
      running = running.then(drain)
    }, ms)
    timer.unref()
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const next = waiting.slice(0, batch)
      try {
        await store(next)
      } catch (error) {
        log.warn({ err: error, waiting: waiting.length }, `storing ${name} failed`)
        schedule(RETRY_MS)
        return
      }
      waiting = waiting.slice(next.length)
    }
  }

  return {
    get waiting() {
      return waiting.length
    },
    get dropped() {
      return dropped
    },
    add(item: Item): void {
      if (waiting.length >= CAPACITY || isStopping) {
        if (dropped++ === 0) log.warn(`dropping ${name}: the queue is full`)
        return
      }
      waiting.push(item)
      schedule(WAIT_MS)
    },
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      running = running.then(drain)
      await running
    },
  }
}
