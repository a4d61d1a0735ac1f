/** Work that is repeated, one run after the other; what fails is told and tried again the next time. */
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
    /** Runs once more, after a run that is under way. */
    now: again,
    async stop() {
      clearInterval(timer)
      await again()
    },
  }
}
