import { type PerWindow, WINDOWS } from './counters/windows.ts'

/** The use of the limits. A window without a limit has no percentage and no remainder. */
export function usageOf(counts: PerWindow, limits: PerWindow) {
  const percentages: Record<string, number> = {}
  const remaining: Record<string, number> = {}
  for (const [index, { name }] of WINDOWS.entries()) {
    const limit = limits[index] ?? 0
    if (name === 'burst' || limit === 0) continue
    const count = counts[index] ?? 0
    percentages[name] = (count / limit) * 100
    remaining[name] = Math.max(0, limit - count)
  }
  return { usage: countsByName(counts), percentages, remaining }
}

export const countsByName = ([
  second = 0,
  minute = 0,
  hourly = 0,
  daily = 0,
  monthly = 0,
]: PerWindow) => ({
  second_count: second,
  minute_count: minute,
  hourly_count: hourly,
  daily_count: daily,
  monthly_count: monthly,
})
