import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 10

/** Polls until the condition returns a value; fails the test after the time limit. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  patienceMs = 180_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + patienceMs
  for (;;) {
    const asked = Date.now()
    const result = await condition()
    if (result) return result as NonNullable<Exclude<T, false>>
    const answered = Date.now()
    if (answered > end) throw new Error(`still waiting after ${patienceMs} ms for: ${condition}`)
    // A costly condition, such as a login, takes up to half of the time and leaves the rest to the
    // servers that the test waits for.
    await sleep(Math.max(PAUSE_MS, answered - asked))
  }
}
