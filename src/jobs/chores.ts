import type { Core } from '../core.ts'
import { patiently } from '../database/budget.ts'

const LOOK_MS = 5000
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

/** Work that follows a change in the database. Several processes may run it at the same time. */
export interface Chore {
  /** The payload on the channel `mailplane_chores` that wakes this chore. */
  name: string
  /** Its statements may take long and have the budget of DATABASE_LONG_TIMEOUT. */
  isPatient?: true
  /** Rounds that may run at once in a process; one unless given. */
  atOnce?: number
  /** Called once before the first round. */
  begin?(core: Core): Promise<unknown>
  /** Does one batch. Returns true when there may be more; throws to retry later. */
  round(core: Core): Promise<boolean>
}

/**
 * Runs chores when the database notifies about them, and polls for missed notifications. A failed
 * chore is retried with increasing pauses, without an end.
 */
export async function runChores(core: Core, all: readonly Chore[]) {
  const workers = all.flatMap((chore) => workersOf(core, chore))
  const wakeAll = () => {
    for (const one of workers) one.wake()
  }
  const feed = await core.listen('mailplane_chores', {
    message(name) {
      for (const one of workers) if (one.name === name) one.wake()
    },
    subscribed: wakeAll,
  })
  const timer = setInterval(wakeAll, LOOK_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(workers.map((one) => one.stop()))
      await feed.close()
    },
  }
}

function workersOf(core: Core, chore: Chore) {
  let beginning: Promise<unknown> | undefined
  const begin = (): Promise<unknown> => {
    beginning ??= (chore.begin?.(core) ?? Promise.resolve()).catch((error) => {
      beginning = undefined
      throw error
    })
    return beginning
  }
  return Array.from({ length: chore.atOnce ?? 1 }, () => worker(core, chore, begin))
}

function worker(core: Core, chore: Chore, begin: () => Promise<unknown>) {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let failures = 0
  let pause: NodeJS.Timeout | undefined

  async function work() {
    try {
      await begin()
      const round = () => chore.round(core)
      while (!stopped && (await (chore.isPatient ? patiently(round) : round()))) {}
      failures = 0
    } catch (error) {
      if (stopped) return
      core.log.warn({ err: error, chore: chore.name }, 'chore failed, will retry')
      const ms = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** failures++)
      pause = setTimeout(() => {
        pause = undefined
        wake()
      }, ms).unref()
    }
  }

  function wake() {
    // A wake-up during the pause is handled when the pause ends.
    if (stopped || pause) return
    if (running) {
      again = true
      return
    }
    again = false
    running = work().finally(() => {
      running = undefined
      if (again) wake()
    })
  }

  return {
    name: chore.name,
    wake,
    async stop() {
      stopped = true
      clearTimeout(pause)
      await running
    },
  }
}
