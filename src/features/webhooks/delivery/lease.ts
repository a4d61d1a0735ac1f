import type { Db } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import { leaseLanes, releaseLanes } from './lanes.ts'

const RENEW_MS = 2000
const SPARE_SECONDS = 5

export type Lease = ReturnType<typeof laneLease>

/** The lanes that are this daemon's, for as long as it renews them. */
export function laneLease(db: Db, timeoutSeconds: number, changed: (owned: Set<number>) => void) {
  const owner = ulid()
  const seconds = timeoutSeconds + SPARE_SECONDS
  let lanes: number[] = []
  let asked = Number.NEGATIVE_INFINITY
  let renewing: Promise<void> | undefined

  async function renew(): Promise<void> {
    const before = Date.now()
    lanes = await leaseLanes(db, owner, seconds)
    asked = before
    changed(new Set(lanes))
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
