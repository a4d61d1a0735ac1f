/** Runs work that shares a name one after the other; other names are not held up. */
export function namedMutex() {
  const tails = new Map<string, Promise<unknown>>()
  const one = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = tails.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const tail = mine.catch(() => {})
    tails.set(name, tail)
    try {
      return await mine
    } finally {
      if (tails.get(name) === tail) tails.delete(name)
    }
  }
  /** Names are taken in sorted order, so two callers cannot wait for each other. */
  return <T>(names: readonly string[], work: () => Promise<T>): Promise<T> =>
    [...new Set(names)]
      .sort()
      .reduceRight<() => Promise<T>>((inner, name) => () => one(name, inner), work)()
}

/** At most `limit` pieces of work at once; the rest wait in order. */
export function limiter(limit: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
