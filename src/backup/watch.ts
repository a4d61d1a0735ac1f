import { StartupError } from '../startup-error.ts'

const MOVING_MS = 500

export type Watch = ReturnType<typeof watchProgress>

/**
 * Ends work that stands still: a database that falls silent, a storage that takes a request and does
 * not answer. Large backups may take hours, so the limit is for each step and not for the whole.
 */
export function watchProgress(seconds: number) {
  const stalled = new AbortController()
  let current = 'the start'
  const timer = setTimeout(() => {
    stalled.abort(new StartupError(`no progress for ${seconds} s: ${current}`))
  }, seconds * 1000)
  return {
    signal: stalled.signal,
    /** Names the step that begins, for the message. */
    step(name: string) {
      current = name
      timer.refresh()
    },
    moved: () => void timer.refresh(),
    /** For work that shows no progress and may take long, such as migrations of much data. */
    async without<Result>(work: Promise<Result>): Promise<Result> {
      const moving = setInterval(() => timer.refresh(), MOVING_MS)
      try {
        return await work
      } finally {
        clearInterval(moving)
      }
    },
    /** Rejects when the work stands still; the work itself is left behind. */
    async guard<Result>(work: Promise<Result>): Promise<Result> {
      let fail: (() => void) | undefined
      const stall = new Promise<never>((_, reject) => {
        fail = () => reject(stalled.signal.reason)
        if (stalled.signal.aborted) fail()
        stalled.signal.addEventListener('abort', fail)
      })
      try {
        return await Promise.race([work, stall])
      } catch (error) {
        // An aborted stream reports the abort and not its reason.
        throw stalled.signal.aborted ? stalled.signal.reason : error
      } finally {
        if (fail) stalled.signal.removeEventListener('abort', fail)
      }
    },
    end: () => clearTimeout(timer),
  }
}
