import type { Db } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import { giveUpLanes, leaseLanes, releaseLanes } from './lanes.ts'

const RENEW_MS = 2000
const SPARE_SECONDS = 5

export type Lease = ReturnType<typeof laneLease>

interface Needs {
  db: Db
  timeoutSeconds: number
  /** Lanes with an attempt under way. */
  busy(): number[]
  changed(owned: Set<number>): void
}

/** The lanes that are this daemon's, for as long as it renews them. */
export function laneLease({ db, timeoutSeconds, busy, changed }: Needs) {
  const owner = ulid()
  const seconds = timeoutSeconds + SPARE_SECONDS
  let lanes: number[] = []
  let asked = Number.NEGATIVE_INFINITY
  let renewing: Promise<void> | undefined

  async function renew(): Promise<void> {
    const before = Date.now()
    const leased = await leaseLanes(db, owner, seconds)
    asked = before
    const surplus = surplusOf(leased)
    lanes = leased.lanes.filter((lane) => !surplus.includes(lane))
    changed(new Set(lanes))
    // Forgotten first: from here on nothing of these lanes is started.
    if (surplus.length > 0) await giveUpLanes(db, owner, surplus)
  }

  /** What is another daemon's share; a lane with an attempt under way is kept until it has ended. */
  function surplusOf({ lanes: leased, share }: { lanes: number[]; share: number }): number[] {
    const underWay = new Set(busy())
    const idle = leased.filter((lane) => !underWay.has(lane))
    return idle.slice(0, Math.max(0, leased.length - share))
  }

  return {
    get lanes(): readonly number[] {
      return lanes
    },
    /** To ask again after every wait: a lane may have gone to another daemon meanwhile. */
    owns: (lane: number) => lanes.includes(lane),
    /** An attempt may outlast neither the lease nor its renewal: another daemon would repeat it. */
    mayStart: () => Date.now() + timeoutSeconds * 1000 < asked + seconds * 1000,
    async renewWhenDue(): Promise<void> {
      if (Date.now() <= asked + RENEW_MS) return
      renewing ??= renew().finally(() => {
        renewing = undefined
      })
      await renewing
    },
    release: () => releaseLanes(db, owner),
  }
}
