import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { DnsUnavailable } from '../../../mail/dns.ts'
import { lookInBatches } from '../../../mail/look-in-batches.ts'
import { DomainUpdated, eventData, eventSubject } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { dueForLook, setLooked } from './mta-sts.repository.ts'
import { mxProblem } from './readiness.ts'

const LOOKS_PER_RUN = 100

/** Looks at the MX records of domains under `enforce`; wrong ones turn their policy to `testing`. */
export const watchMtaSts: Job = {
  name: 'domains.watch-mta-sts',
  everySeconds: 600,
  async run(core) {
    const since = new Date(core.now().getTime() - HOUR_MS)
    const due = await dueForLook(core.db, since, LOOKS_PER_RUN)
    await lookInBatches(due, (row) => watch(core, row))
  },
}

/** Returns whether DNS answered; without an answer the last result stays. */
async function watch(
  { config, db, events, log, now, withDns }: Core,
  row: Awaited<ReturnType<typeof dueForLook>>[number],
): Promise<boolean> {
  try {
    const problem =
      (await withDns((dns) => mxProblem(dns, row.domain, config.SVC_MAIL_HOSTNAME))) ?? null
    const isNews = (problem === null) !== (row.mta_sts_problem === null)
    if (isNews) log.warn({ domain: row.domain, problem }, 'MTA-STS policy changed')
    await db.transaction().execute(async (tx) => {
      const locked = await domains.lock(tx, 'platform', row.id)
      if (!locked) return
      await setLooked(tx, row.id, problem, now())
      const data = { ...eventData(locked), updated_fields: ['mta_sts_problem'] }
      if (isNews) await events.emit(tx, DomainUpdated, eventSubject(locked), data)
    })
    return true
  } catch (error) {
    // One domain must not end the run for the others.
    if (!(error instanceof DnsUnavailable)) {
      log.error({ err: error, domain: row.domain }, 'look at the MX records failed')
    }
    await setLooked(db, row.id, row.mta_sts_problem, now())
    return false
  }
}
