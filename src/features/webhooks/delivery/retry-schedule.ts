const JITTER = 0.1

export interface Schedule {
  /** Seconds before each retry; the last one repeats. */
  waits: readonly number[]
  maxRetries: number
}

/**
 * The time of the next attempt after this number of failures; undefined after the last retry. Each
 * wait gets a random extra, so that a receiver that recovers does not get all retries at once. A
 * receiver may ask for a longer wait, up to the longest one of the schedule.
 */
export function nextAttempt(
  failures: number,
  { waits, maxRetries }: Schedule,
  now: Date,
  askedSeconds = 0,
  random = Math.random,
): Date | undefined {
  if (failures > maxRetries || waits.length === 0) return undefined
  const planned = waits[Math.min(failures, waits.length) - 1] ?? 0
  const asked = Math.min(askedSeconds, Math.max(...waits))
  const seconds = Math.max(planned * (1 + JITTER * random()), asked)
  return new Date(now.getTime() + seconds * 1000)
}

/** RFC 9110 §10.2.3: seconds, or a date; 0 for anything else. */
export function retryAfterSeconds(header: string | undefined, now: Date): number {
  if (header === undefined) return 0
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? 0 : Math.max(0, (date - now.getTime()) / 1000)
}
