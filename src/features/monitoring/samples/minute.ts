import { MINUTE_MS } from '../../../lib/time.ts'

export const minuteOf = (time: Date): Date =>
  new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS)
