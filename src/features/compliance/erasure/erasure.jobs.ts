import type { Core } from '../../../core.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../jobs/lease.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { coveringPersons } from '../holds/holds.repository.ts'
import { findMailbox, lockOrganizationsOf, personsOf } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { erasers } from './erasers.ts'
import * as erasures from './erasure.repository.ts'

const LEASE_SECONDS = 120
/** The shutdown of this process waits while this job runs. */
const MAX_RUN_MS = 45_000
const ON_HOLD = 'A legal hold covers this address'
const NEW_MAILBOX = 'A mailbox with this address was created after the request; request it again'

/** Removes the data of erasures whose grace period is over. */
export const eraseDue: Job = {
  name: 'compliance.erase',
  everySeconds: 300,
  async run(core) {
    const end = Date.now() + MAX_RUN_MS
    const served = new Set<string>()
    while (Date.now() < end) {
      const claimed = await claim(core, served)
      if (claimed === undefined) return
      if (claimed === 'not now') continue
      const { row, lease } = claimed
      await underLease(core, 'data_erasures', { id: row.id }, lease, () => erase(core, row, lease))
    }
  },
}

/**
 * Claims one due erasure. Organizations take turns, so that many erasures of one do not delay those of
 * others. An address that has a new holder is not erased with the data of the old one. A legal hold
 * postpones it only until the removal has begun: stopping later would leave half of the data.
 */
const claim = (core: Core, served: Set<string>) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const row = await erasures.lockDue(tx, at, [...served])
    if (!row) return undefined
    served.delete(row.organization_id ?? '')
    served.add(row.organization_id ?? '')
    const { account_id, organization_id, user_email, id: erasure_id } = row
    const persons = await personsOf(tx, row)
    await lockOrganizationsOf(tx, persons)
    const audited = { organization_id, user_email }
    if (account_id === null && !row.begun_at && (await findMailbox(tx, user_email))) {
      await erasures.cancel(tx, erasure_id, NEW_MAILBOX)
      const details = { erasure_id, reason: NEW_MAILBOX }
      await record(tx, undefined, { ...audited, action: 'data_erasure.cancelled', details }, at)
      return 'not now' as const
    }
    const holds = row.begun_at ? [] : await coveringPersons(tx, pastDays(core), persons, at)
    if (holds.length > 0) {
      await erasures.postpone(tx, erasure_id, new Date(at.getTime() + HOUR_MS), ON_HOLD)
      if (row.error_message !== ON_HOLD) {
        const details = { erasure_id, holds: holds.map(({ id }) => id) }
        await record(tx, undefined, { ...audited, action: 'data_erasure.held', details }, at)
      }
      return 'not now' as const
    }
    const lease = newLease(LEASE_SECONDS)
    await erasures.begin(tx, erasure_id, lease, at)
    return { row, lease }
  })

async function erase(core: Core, row: erasures.ErasureRow, lease: Lease): Promise<void> {
  const { id } = row
  try {
    for (const person of await personsOf(core.db, row)) {
      for (const { name, erase } of erasers) {
        await erase(core, person, async (db, counts) => {
          if (!(await erasures.addRemoved(db, id, lease, name, counts))) throw new LeaseLost()
        })
      }
    }
    await finish(core, row, lease)
  } catch (error) {
    const { message } = error as Error
    core.log.warn({ err: error, erasure_id: id }, 'erasure interrupted, will be retried')
    const pause = Math.min(HOUR_MS, MINUTE_MS * 2 ** Math.min(row.attempts, 10))
    const until = new Date(core.now().getTime() + pause)
    await erasures.postpone(core.db, id, until, message, lease)
  }
}

/** Marks the erasure as finished and records the counts as proof. */
const finish = (core: Core, { id, organization_id }: erasures.ErasureRow, lease: Lease) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const erasure = await erasures.finish(tx, id, lease, at)
    if (!erasure) return
    const { id: erasure_id, user_email, removed, requested_by } = erasure
    const details = { erasure_id, removed, requested_by }
    const action = 'data_erasure.hard_deleted'
    await record(tx, undefined, { action, organization_id, user_email, details }, at)
  })
