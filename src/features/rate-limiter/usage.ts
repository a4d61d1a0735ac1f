import { LIMIT_FIELDS, type Rule } from './rules.ts'
import { type PerWindow, WINDOWS } from './windows.ts'

/** How much of a rule is used and left. A window without a limit has neither share nor rest. */
export function usageOf(counts: PerWindow, rule: Rule) {
  const percentages: Record<string, number> = {}
  const remaining: Record<string, number> = {}
  for (const [index, { name }] of WINDOWS.entries()) {
    const limit = rule[LIMIT_FIELDS[index] as (typeof LIMIT_FIELDS)[number]]
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
