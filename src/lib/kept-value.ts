interface Options {
  /** For so long a value is as good as a new one. */
  freshMs: number
  /** For so long it is better than none, when a new one does not come in time. */
  staleMs: number
}

/**
 * A value that is computed once for all who ask at about the same time. Who asks waits no longer than
 * it says; the computation goes on, and the next one finds its result.
 */
export function keptValue<Value>(compute: () => Promise<Value>, { freshMs, staleMs }: Options) {
  let kept: { value: Value; at: number } | undefined
  let running: Promise<Value> | undefined

  const younger = (ms: number) =>
    kept !== undefined && performance.now() - kept.at < ms ? kept : undefined

  const begin = (): Promise<Value> => {
    running ??= compute()
      .then((value) => {
        kept = { value, at: performance.now() }
        return value
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  return async (patienceMs: number): Promise<Value> => {
    const fresh = younger(freshMs)
    if (fresh) return fresh.value
    try {
      return await withinTime(begin(), patienceMs)
    } catch (error) {
      const stale = error instanceof TooLate ? younger(staleMs) : undefined
      if (stale) return stale.value
      throw error
    }
  }
}

export class TooLate extends Error {}

/** Gives up waiting, not the work. */
export function withinTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
