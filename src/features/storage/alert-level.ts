export type Level = 'none' | 'warning' | 'critical'

const RANK: Record<Level, number> = { none: 0, warning: 1, critical: 2 }

export interface Told {
  told: Level
  warning_at: string | null
  critical_at: string | null
}

export const NOTHING_TOLD: Told = { told: 'none', warning_at: null, critical_at: null }

/** Without a limit, nothing is ever near it. */
export function levelOf(
  used: number,
  limit: number | null,
  thresholds: { warning_threshold: number; critical_threshold: number },
): Level {
  if (limit === null || limit <= 0) return 'none'
  // Compared as products: the percentage itself is rounded.
  if (used * 100 >= limit * thresholds.critical_threshold) return 'critical'
  return used * 100 >= limit * thresholds.warning_threshold ? 'warning' : 'none'
}

/**
 * What is known once a level was reached, and whether it is to be told: each crossing once. Usage
 * that swings around a threshold would tell all the time; the same alert is held back for a while,
 * and told afterwards if it still holds then.
 */
export function crossing(before: Told, level: Level, now: Date, cooldownSeconds: number) {
  if (RANK[level] <= RANK[before.told]) return { after: { ...before, told: level }, tell: false }
  const last = level === 'critical' ? before.critical_at : before.warning_at
  if (last !== null && now.getTime() - Date.parse(last) < cooldownSeconds * 1000) {
    return { after: before, tell: false }
  }
  const at = level === 'critical' ? 'critical_at' : 'warning_at'
  return { after: { ...before, told: level, [at]: now.toISOString() }, tell: true }
}
