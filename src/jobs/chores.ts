import type { Core } from '../core.ts'

const LOOK_MS = 5000
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

/** Work that follows a change in the database, and that several processes may do side by side. */
export interface Chore {
  /** What the database says on the channel `mailplane_chores` when there is something to do. */
  name: string
  /** Once, before the first round. */
  begin?(core: Core): Promise<unknown>
  /** Does some of it. True when there may be more; throws when it cannot be done now. */
  round(core: Core): Promise<boolean>
}

/**
 * Does chores as soon as the database tells of them, and looks now and then for what nobody told.
 * After a failure it waits, longer each time, and tries again for as long as it takes.
 */
export async function runChores(core: Core, all: readonly Chore[]) {
  const workers = new Map(all.map((chore) => [chore.name, worker(core, chore)]))
  const wakeAll = () => {
    for (const one of workers.values()) one.wake()
  }
  const feed = await core.listen('mailplane_chores', {
    message: (name) => workers.get(name)?.wake(),
    subscribed: wakeAll,
  })
  const timer = setInterval(wakeAll, LOOK_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all([...workers.values()].map((one) => one.stop()))
      await feed.close()
    },
  }
}

function worker(core: Core, chore: Chore) {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let failures = 0
  let begun = false
  let pause: NodeJS.Timeout | undefined

  async function work() {
    try {
      if (!begun) await chore.begin?.(core)
      begun = true
      while (!stopped && (await chore.round(core))) {}
      failures = 0
    } catch (error) {
      if (stopped) return
      core.log.warn({ err: error, chore: chore.name }, 'chore failed; it will be tried again')
      const ms = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** failures++)
      pause = setTimeout(() => {
        pause = undefined
        wake()
      }, ms).unref()
    }
  }

  function wake() {
    // What was told during a pause is done after it.
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
    wake,
    async stop() {
      stopped = true
      clearTimeout(pause)
      await running
    },
  }
}
