const MAX_ADDRESSES = 100_000

/** Counts visits per IP address in a fixed window, with bounded memory. */
export function visitCounter(limit: number, windowSeconds: number) {
  let counts = new Map<string, number>()
  let begun = 0
  return {
    /** True while the IP address is below the limit of recorded visits. */
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
