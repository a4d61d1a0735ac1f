export type Level = 'none' | 'warning' | 'critical'

const RANK: Record<Level, number> = { none: 0, warning: 1, critical: 2 }

export interface Told {
  told: Level
  warning_at: string | null
  critical_at: string | null
}

export const NOTHING_TOLD: Told = { told: 'none', warning_at: null, critical_at: null }

export function levelOf(
  used: number,
  limit: number | null,
  thresholds: { warning_threshold: number; critical_threshold: number },
): Level {
  if (limit === null || limit <= 0) return 'none'
  // Products are compared because the percentage is rounded.
  if (used * 100 >= limit * thresholds.critical_threshold) return 'critical'
  return used * 100 >= limit * thresholds.warning_threshold ? 'warning' : 'none'
}

/**
 * Returns the new state of an alert and whether to emit it: once per crossing. Usage that swings
 * around a threshold would emit all the time, so a repeated alert is delayed and emitted only if it
 * still holds then.
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
