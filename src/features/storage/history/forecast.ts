import { DAY_MS } from '../../../lib/time.ts'

export interface DayUsage {
  date: string
  used_bytes: number
}

export interface Forecast {
  bytes_per_day: number
  /** Null when usage does not grow, there is no quota, or it fills in ten years or later. */
  fills_at: string | null
  days_left: number | null
  based_on_days: number
}

const WINDOW_DAYS = 30
/** A shorter time says more about the last import than about growth. */
const LEAST_DAYS = 7
const MOST_DAYS = 3650

const dayOf = ({ date }: DayUsage): number => Date.parse(date) / DAY_MS

/**
 * Predicts by a straight line through the last 30 days when a quota is full. Null with less than a week
 * of figures. `days` has one entry for each day, in order.
 */
export function forecast(days: readonly DayUsage[], quota: number | null): Forecast | null {
  const recent = days.slice(-(WINDOW_DAYS + 1))
  const [first] = recent
  const last = recent.at(-1)
  if (!first || !last || dayOf(last) - dayOf(first) < LEAST_DAYS) return null
  const slope = slopeOf(recent.map((day) => [dayOf(day), day.used_bytes]))
  const based_on_days = dayOf(last) - dayOf(first)
  const bytes_per_day = Math.round(slope)
  const none = { bytes_per_day, fills_at: null, days_left: null, based_on_days }
  if (quota === null) return none
  const missing = quota - last.used_bytes
  if (missing <= 0) return { ...none, fills_at: last.date, days_left: 0 }
  const left = slope > 0 ? Math.ceil(missing / slope) : Number.POSITIVE_INFINITY
  if (left > MOST_DAYS) return none
  const fills_at = new Date(Date.parse(last.date) + left * DAY_MS).toISOString().slice(0, 10)
  return { bytes_per_day, fills_at, days_left: left, based_on_days }
}

/** Least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const above = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0)
  const below = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
  return below === 0 ? 0 : above / below
}
