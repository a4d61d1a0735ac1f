import type { Core } from '../../../core.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../jobs/lease.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { expirers } from './expirers.ts'
import { daysBefore, expireMail } from './old-mail.ts'
import * as runs from './runs.repository.ts'

const MAILBOX_BATCH_SIZE = 50
const LEASE_SECONDS = 120
/** Other organizations and the shutdown of this process wait while this job serves one. */
const MAX_RUN_MS = 45_000

/** Applies the policy of every organization that has one, once a day. */
export const applyRetention: Job = {
  name: 'compliance.retention',
  everySeconds: 60,
  async run(core) {
    const end = Date.now() + MAX_RUN_MS
    while (Date.now() < end) {
      const lease = newLease(LEASE_SECONDS)
      const run = await runs.claim(core.db, lease, core.now())
      if (!run) return
      const { organization_id } = run
      await underLease(core, 'retention_runs', { organization_id }, lease, () =>
        apply(core, run, lease, end),
      )
    }
  },
}

async function apply(core: Core, run: runs.Run, lease: Lease, end: number): Promise<void> {
  const { organization_id } = run
  try {
    await expireRows(core, run, lease, end)
    if (core.doveadm.isConfigured) await expireMailboxes(core, run, lease, end)
    await core.db.transaction().execute(async (tx) => {
      const result = await runs.finish(tx, organization_id, lease, core.now())
      if (!result || Object.values(result.counts).every((count) => count === 0)) return
      const details = { ...result.counts, retention_days: run.retention_days }
      const action = 'retention.applied'
      await record(tx, undefined, { action, organization_id, details }, core.now())
    })
  } catch (error) {
    core.log.warn({ err: error, organization_id }, 'retention run interrupted, will resume')
    await runs.interrupt(core.db, organization_id, lease, (error as Error).message)
  }
}

async function saveProgress(
  core: Core,
  run: runs.Run,
  lease: Lease,
  counts: Record<string, number>,
  lastEmail?: string,
  db = core.db,
) {
  if (!(await runs.progress(db, run.organization_id, lease, counts, lastEmail)))
    throw new LeaseLost()
}

function leaveTheRest(end: number): void {
  if (Date.now() > end) throw new Error('time limit of this run reached; the next run continues')
}

/** Reads the legal holds for every batch, so that a new hold protects the rest of the rows. */
async function expireRows(core: Core, run: runs.Run, lease: Lease, end: number): Promise<void> {
  const { organization_id } = run
  const before = daysBefore(core.now(), run.retention_days)
  const past = pastDays(core)
  for (const { name, expire } of expirers) {
    for (;;) {
      const deleted = await core.db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organization_id)
        const held = await runs.heldIn(tx, organization_id, core.now())
        if (held.isWholeOrganization) return 0
        const count = await expire(tx, { organization_id, before, held: held.addresses }, past)
        await saveProgress(core, run, lease, { [name]: count }, undefined, tx)
        return count
      })
      if (deleted === 0) break
      leaveTheRest(end)
    }
  }
}

/** Stores the last finished mailbox, so that an interrupted run continues after it. */
async function expireMailboxes(
  core: Core,
  run: runs.Run,
  lease: Lease,
  end: number,
): Promise<void> {
  const { organization_id } = run
  let after = run.last_email
  for (;;) {
    const emails = await runs.mailboxesAfter(core.db, organization_id, after, MAILBOX_BATCH_SIZE)
    for (const email of emails) {
      const held = await runs.heldIn(core.db, organization_id, core.now())
      if (held.isWholeOrganization) return
      const counts = held.addresses.includes(email) ? {} : await expireMail(core, email, run)
      await saveProgress(core, run, lease, counts, email)
      after = email
      leaveTheRest(end)
    }
    if (emails.length < MAILBOX_BATCH_SIZE) return
  }
}
