/** Asks again until there is an answer; a condition that never comes true fails the test. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  patienceMs = 10_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + patienceMs
  for (;;) {
    const found = await condition()
    if (found) return found as NonNullable<Exclude<T, false>>
    if (Date.now() > end) throw new Error(`still waiting after ${patienceMs} ms for: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
