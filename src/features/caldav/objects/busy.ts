export interface Busy {
  start: number
  end: number
  type: 'BUSY' | 'BUSY-TENTATIVE' | 'BUSY-UNAVAILABLE'
}

/** Periods of one type that touch become one; in the order of their starts. */
export function joined(periods: readonly Busy[]): Busy[] {
  const result: Busy[] = []
  const last = new Map<Busy['type'], Busy>()
  for (const { start, end, type } of periods.toSorted((one, other) => one.start - other.start)) {
    const before = last.get(type)
    if (before && start <= before.end) {
      before.end = Math.max(before.end, end)
      continue
    }
    const period = { start, end, type }
    last.set(type, period)
    result.push(period)
  }
  return result
}
