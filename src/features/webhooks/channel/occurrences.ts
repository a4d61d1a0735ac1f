export const WINDOW_SECONDS = 60
const MAX_REMEMBERED = 100_000

/**
 * Numbers messages with equal content. Pub/sub delivers each message to every daemon in the same
 * order, so the n-th of them is the same message everywhere: stored under its content and number it is
 * stored once, and two equal messages stay two. A daemon that joined late counts too low and finds its
 * claims taken; the other daemons store the message.
 */
export function occurrences(now: () => number) {
  const seen = new Map<string, { count: number; at: number }>()
  return (fingerprint: string): number => {
    const at = now()
    const before = seen.get(fingerprint)
    const isRecent = before !== undefined && at - before.at < WINDOW_SECONDS * 1000
    const count = isRecent ? before.count + 1 : 1
    seen.delete(fingerprint)
    seen.set(fingerprint, { count, at })
    forget(seen, at)
    return count
  }
}

/** The entries are ordered by the time they were last seen. */
function forget(seen: Map<string, { at: number }>, now: number): void {
  for (const [fingerprint, { at }] of seen) {
    if (seen.size <= MAX_REMEMBERED && now - at < WINDOW_SECONDS * 1000) return
    seen.delete(fingerprint)
  }
}
