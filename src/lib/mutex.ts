/** Runs work with the same name one after the other, and work with different names in parallel. */
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
  /** Locks the names in sorted order, so that two callers cannot deadlock. */
  return <T>(names: readonly string[], work: () => Promise<T>): Promise<T> =>
    [...new Set(names)]
      .sort()
      .reduceRight<() => Promise<T>>((inner, name) => () => one(name, inner), work)()
}

/** Runs at most `limit` pieces of work at once; the others wait in order. */
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

/** Runs at most `limit` pieces of work with the same name at once; different names do not wait. */
export function namedLimiter(limit: number) {
  const limiters = new Map<string, { run: ReturnType<typeof limiter>; users: number }>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const one = limiters.get(name) ?? { run: limiter(limit), users: 0 }
    limiters.set(name, one)
    one.users++
    try {
      return await one.run(work)
    } finally {
      if (--one.users === 0) limiters.delete(name)
    }
  }
}
