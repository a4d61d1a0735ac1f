import type { Sweep, Waiting } from './endpoint-queue.repository.ts'

const ENDPOINTS_PER_LANE = 100

/** Goes through all endpoints that something waits for, a bounded number per call, round and round. */
export function sweeper(read: (sweep: Sweep) => Promise<Waiting[]>) {
  const after = new Map<number, string>()

  return {
    /** The last call did not get to the end of every lane. */
    get isPartial() {
      return after.size > 0
    },
    async next(lanes: readonly number[], entries: number, full: readonly string[]) {
      const rows = await read({
        lanes,
        after: lanes.map((lane) => after.get(lane) ?? ''),
        endpoints: ENDPOINTS_PER_LANE,
        entries,
        full,
      })
      const seen = new Map<number, Set<string>>()
      for (const { lane, endpoint_id } of rows) {
        const ofLane = seen.get(lane) ?? new Set()
        seen.set(lane, ofLane.add(endpoint_id))
      }
      after.clear()
      for (const [lane, ids] of seen) {
        if (ids.size === ENDPOINTS_PER_LANE) after.set(lane, [...ids].sort().at(-1) as string)
      }
      return rows
    },
  }
}
