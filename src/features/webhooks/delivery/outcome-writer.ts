import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../database/database.ts'
import type { Log } from '../../../log.ts'
import { type Outcome, record } from './queue.repository.ts'

const MAX_BATCH = 200
const RETRY_MS = 500

/**
 * Stores outcomes many at a time. While one batch is written the next one gathers, so a lone outcome
 * waits for nobody. A database that is away is waited for: what was sent must not be forgotten.
 */
export function outcomeWriter(byIndex: Db, log: Log) {
  const gathered: { outcome: Outcome; stored: () => void }[] = []
  let writing: Promise<void> | undefined
  let closing = false

  function begin(): void {
    writing ??= drain().finally(() => {
      writing = undefined
      // Something may have come after the last look.
      if (gathered.length > 0) begin()
    })
  }

  async function drain(): Promise<void> {
    while (gathered.length > 0) {
      const batch = gathered.splice(0, MAX_BATCH)
      await store(batch.map(({ outcome }) => outcome))
      // Not at once: those told send what is next, and the next batch would wait behind all of it.
      setImmediate(() => {
        for (const { stored } of batch) stored()
      })
    }
  }

  async function store(outcomes: Outcome[]): Promise<void> {
    for (;;) {
      try {
        return await record(byIndex, outcomes)
      } catch (error) {
        log.warn({ err: error, outcomes: outcomes.length }, 'webhook outcomes were not stored yet')
        // At the end nobody can wait any longer; they will be sent once more.
        if (closing) return
        await sleep(RETRY_MS)
      }
    }
  }

  return {
    /** Resolves once it is stored. */
    write: (outcome: Outcome): Promise<void> =>
      new Promise((stored) => {
        gathered.push({ outcome, stored })
        begin()
      }),
    async close() {
      closing = true
      while (writing) await writing
    },
  }
}
