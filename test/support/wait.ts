/** Polls until the condition returns a value; fails the test after the time limit. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  patienceMs = 180_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + patienceMs
  for (;;) {
    const result = await condition()
    if (result) return result as NonNullable<Exclude<T, false>>
    if (Date.now() > end) throw new Error(`still waiting after ${patienceMs} ms for: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
