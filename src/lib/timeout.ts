export class TimedOut extends Error {}

/** Rejects with `TimedOut` when the work takes longer. The work itself goes on. */
export async function within<Value>(ms: number, work: PromiseLike<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
