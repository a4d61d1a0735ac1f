const MAX_ADDRESSES = 100_000

/** How often each address came within the window; forgetful rather than large. */
export function visitCounter(limit: number, windowSeconds: number) {
  let counts = new Map<string, number>()
  let begun = 0
  return {
    /** Whether this visit is still worth recording. */
    admits(ip: string, now: Date): boolean {
      if (now.getTime() - begun >= windowSeconds * 1000 || counts.size > MAX_ADDRESSES) {
        counts = new Map()
        begun = now.getTime()
      }
      const count = (counts.get(ip) ?? 0) + 1
      counts.set(ip, count)
      return count <= limit
    },
  }
}
