const MINUTE_MS = 60_000

export const minuteOf = (time: Date): Date =>
  new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS)
