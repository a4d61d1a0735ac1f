import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { lookInBatches } from '../../../mail/look-in-batches.ts'
import type { DomainRow } from '../domains.repository.ts'
import { allPass, look, markVerified } from '../verify-dns/verify-dns.service.ts'
import { dueForLook } from './dns-history.repository.ts'
import { recordCheck } from './record-check.ts'

const LOOK_AGAIN_MS = 6 * HOUR_MS
const LOOKS_PER_RUN = 60

/** Looks at the records of hosted domains, so that their history says since when one is missing. */
export const watchDns: Job = {
  name: 'domains.watch-dns',
  everySeconds: 60,
  async run(core) {
    const since = new Date(core.now().getTime() - LOOK_AGAIN_MS)
    const due = await dueForLook(core.db, since, LOOKS_PER_RUN)
    await lookInBatches(due, (row) => watch(core, row))
  },
}

/** Returns whether DNS answered. */
async function watch(core: Core, row: DomainRow): Promise<boolean> {
  try {
    const verification = await look(core, row)
    if (row.verified_at === null && allPass(verification)) {
      await core.db.transaction().execute((tx) => markVerified(core, tx, 'platform', row.id))
    }
    await recordCheck(core, row.id, verification)
    return !verification.mx.unanswered
  } catch (error) {
    // One domain must not end the run for the others.
    core.log.error({ err: error, domain: row.domain }, 'DNS check failed')
    return false
  }
}
