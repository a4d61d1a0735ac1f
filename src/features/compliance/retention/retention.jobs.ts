import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { ulid } from '../../../lib/ulid.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { expirers } from './expirers.ts'
import { daysBefore, expireMail } from './old-mail.ts'
import * as runs from './runs.repository.ts'

const AT_ONCE = 50
/** Other jobs of this process wait meanwhile, and so does whoever stops it. */
const PATIENCE_MS = 45_000

/** Applies the policy of every organization that has one, once a day. */
export const applyRetention: Job = {
  name: 'compliance.retention',
  everySeconds: 60,
  async run(core) {
    const end = Date.now() + PATIENCE_MS
    while (Date.now() < end) {
      const token = ulid()
      const run = await runs.claim(core.db, token, core.now())
      if (!run) return
      await apply(core, run, token, end)
    }
  },
}

async function apply(core: Core, run: runs.Run, token: string, end: number): Promise<void> {
  const { organization_id } = run
  try {
    await expireRows(core, run, token)
    if (core.doveadm.isConfigured) await expireMailboxes(core, run, token, end)
    await core.db.transaction().execute(async (tx) => {
      const done = await runs.finish(tx, organization_id, token, core.now())
      if (!done || Object.values(done.counts).every((count) => count === 0)) return
      const details = { ...done.counts, retention_days: run.retention_days }
      const action = 'retention.applied'
      await record(tx, undefined, { action, organization_id, details }, core.now())
    })
  } catch (error) {
    core.log.warn({ err: error, organization_id }, 'retention broke off; it will be gone on with')
    await runs.breakOff(core.db, organization_id, token, (error as Error).message)
  }
}

async function keep(
  core: Core,
  run: runs.Run,
  token: string,
  counts: Record<string, number>,
  lastEmail?: string,
  db = core.db,
) {
  if (!(await runs.progress(db, run.organization_id, token, counts, lastEmail))) {
    throw new Error('somebody else has taken the work over')
  }
}

/** Batch by batch, each with the holds of that moment: one that is placed now holds the next. */
async function expireRows(core: Core, run: runs.Run, token: string): Promise<void> {
  const { organization_id } = run
  const before = daysBefore(core.now(), run.retention_days)
  for (const { name, expire } of expirers) {
    for (;;) {
      const deleted = await core.db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organization_id)
        const held = await runs.heldIn(tx, organization_id, core.now())
        if (held.everybody) return 0
        const count = await expire(tx, core, { organization_id, before, held: held.addresses })
        await keep(core, run, token, { [name]: count }, undefined, tx)
        return count
      })
      if (deleted === 0) break
    }
  }
}

/** Mailbox by mailbox; the last one that was done is kept, and a kill goes on after it. */
async function expireMailboxes(
  core: Core,
  run: runs.Run,
  token: string,
  end: number,
): Promise<void> {
  const { organization_id } = run
  let after = run.last_email
  for (;;) {
    const emails = await runs.mailboxesAfter(core.db, organization_id, after, AT_ONCE)
    for (const email of emails) {
      const held = await runs.heldIn(core.db, organization_id, core.now())
      if (held.everybody) return
      const counts = held.addresses.includes(email) ? {} : await expireMail(core, email, run)
      await keep(core, run, token, counts, email)
      after = email
      if (Date.now() > end) throw new Error('the rest is done at the next look')
    }
    if (emails.length < AT_ONCE) return
  }
}
