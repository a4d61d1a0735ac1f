/** Repeats work at an interval; runs never overlap. A failed run is reported and does not stop it. */
export function periodically(
  everyMs: number,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
) {
  let running: Promise<void> = Promise.resolve()
  let waiting = false
  const run = () => {
    waiting = false
    return work().catch(failed)
  }
  const again = (): Promise<void> => {
    if (!waiting) {
      waiting = true
      running = running.then(run)
    }
    return running
  }
  const timer = setInterval(() => void again(), everyMs)
  timer.unref()
  return {
    /** Runs at once, or after the current run. */
    now: again,
    async stop() {
      clearInterval(timer)
      await again()
    },
  }
}
