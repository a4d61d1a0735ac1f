import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { ulid } from '../../../lib/ulid.ts'
import { covering } from '../holds/holds.repository.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { erasers } from './erasers.ts'
import * as erasures from './erasure.repository.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Other jobs of this process wait meanwhile. */
const PATIENCE_MS = 45_000
const ON_HOLD = 'A legal hold covers this address'

/** Removes for good what was asked for a month ago. */
export const eraseDue: Job = {
  name: 'compliance.erase',
  everySeconds: 300,
  async run(core) {
    const end = Date.now() + PATIENCE_MS
    while (Date.now() < end) {
      const claimed = await claim(core)
      if (claimed === undefined) return
      if (claimed !== 'held') await erase(core, claimed.row, claimed.token)
    }
  },
}

/**
 * Takes one. A hold that was placed before this moment stops it; from here on it is too late, because
 * half a person would be left.
 */
const claim = (core: Core) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const row = await erasures.lockDue(tx, at)
    if (!row) return undefined
    await lockOrganization(tx, row.organization_id)
    const { organization_id, user_email, id: erasure_id } = row
    const holds = row.begun_at ? [] : await covering(tx, organization_id, user_email, at)
    if (holds.length > 0) {
      await erasures.postpone(tx, erasure_id, new Date(at.getTime() + HOUR_MS), ON_HOLD)
      if (row.error_message !== ON_HOLD) {
        const details = { erasure_id, holds: holds.map(({ id }) => id) }
        const action = 'data_erasure.held'
        await record(tx, undefined, { action, organization_id, user_email, details }, at)
      }
      return 'held' as const
    }
    const token = ulid()
    await erasures.begin(tx, erasure_id, token, at)
    return { row, token }
  })

async function erase(core: Core, row: erasures.ErasureRow, token: string): Promise<void> {
  const { id, account_id, organization_id, user_email: email } = row
  try {
    for (const { name, erase } of erasers) {
      await erase(core, { email, account_id, organization_id }, async (db, counts) => {
        if (!(await erasures.addRemoved(db, id, token, name, counts))) {
          throw new Error('the erasure is no longer ours')
        }
      })
    }
    await finish(core, row, token)
  } catch (error) {
    const { message } = error as Error
    core.log.warn({ err: error, erasure_id: id }, 'an erasure has to wait; it will be tried again')
    const pause = Math.min(HOUR_MS, MINUTE_MS * 2 ** Math.min(row.attempts, 10))
    const until = new Date(core.now().getTime() + pause)
    await erasures.postpone(core.db, id, until, message, token)
  }
}

/** The proof: what was removed, and that all of it was gone through. */
const finish = (core: Core, { organization_id }: erasures.ErasureRow, token: string) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const done = await erasures.finish(tx, token, at)
    if (!done) return
    const { id: erasure_id, user_email, removed, requested_by } = done
    const details = { erasure_id, removed, requested_by }
    const action = 'data_erasure.hard_deleted'
    await record(tx, undefined, { action, organization_id, user_email, details }, at)
  })
