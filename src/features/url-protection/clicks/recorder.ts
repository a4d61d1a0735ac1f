import type { Core } from '../../../core.ts'
import { type Click, insertMany } from './clicks.repository.ts'

const CAPACITY = 20_000
const BATCH = 500
const WAIT_MS = 200
const RETRY_MS = 2000

export type ClickRecorder = ReturnType<typeof clickRecorder>

/**
 * Stores clicks in batches behind the answers, so that an answer never waits for the database. While
 * it is away clicks wait in memory; those beyond the size of the queue are dropped and counted.
 */
export function clickRecorder({ db, log }: Pick<Core, 'db' | 'log'>) {
  const counts = { recorded: 0, dropped: 0 }
  let waiting: Click[] = []
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
      const batch = waiting.slice(0, BATCH)
      try {
        await insertMany(db, batch)
      } catch (error) {
        log.warn({ err: error, waiting: waiting.length }, 'storing clicks on links failed')
        schedule(RETRY_MS)
        return
      }
      waiting = waiting.slice(batch.length)
      counts.recorded += batch.length
    }
  }

  return {
    counts,
    get waiting() {
      return waiting.length
    },
    add(click: Click): void {
      if (waiting.length >= CAPACITY || isStopping) {
        if (counts.dropped++ === 0) log.warn('dropping clicks on links: the queue is full')
        return
      }
      waiting.push(click)
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
