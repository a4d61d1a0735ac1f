import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { limiter } from '../../../lib/mutex.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { DnsUnavailable } from '../../../mail/dns.ts'
import { DomainUpdated, eventData, eventSubject } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { dueForLook, setLooked } from './mta-sts.repository.ts'
import { mxProblem } from './readiness.ts'

type Due = Awaited<ReturnType<typeof dueForLook>>[number]

/** Organizations take turns again in each portion. */
const PORTION = 100
const AT_ONCE = 20
/** Looks in a row without an answer after which the resolvers count as silent. */
const MAX_UNANSWERED = 20
/** The next run begins with the domains that this one has left. */
const MAX_RUN_MS = 45_000

/** Looks at the MX records of domains under `enforce`; wrong ones turn their policy to `testing`. */
export const watchMtaSts: Job = {
  name: 'domains.watch-mta-sts',
  everySeconds: 60,
  async run(core) {
    const since = new Date(core.now().getTime() - HOUR_MS)
    const end = Date.now() + MAX_RUN_MS
    const inTurn = limiter(AT_ONCE)
    let unanswered = 0
    const isOver = () => Date.now() > end || unanswered >= MAX_UNANSWERED
    const look = async (row: Due) => {
      if (!isOver()) unanswered = (await watch(core, row)) ? 0 : unanswered + 1
    }
    for (;;) {
      const due = await dueForLook(core.db, since, PORTION)
      await Promise.all(due.map((row) => inTurn(() => look(row))))
      if (due.length < PORTION || isOver()) return
    }
  },
}

/** Returns whether DNS answered; without an answer the last result stays. */
async function watch({ config, db, events, log, now, withDns }: Core, row: Due): Promise<boolean> {
  try {
    const problem =
      (await withDns((dns) => mxProblem(dns, row.domain, config.SVC_MAIL_HOSTNAME))) ?? null
    const isNews = (problem === null) !== (row.mta_sts_problem === null)
    if (!isNews) {
      await setLooked(db, row.id, problem, now())
      return true
    }
    log.warn({ domain: row.domain, problem }, 'MTA-STS policy changed')
    await db.transaction().execute(async (tx) => {
      const locked = await domains.lock(tx, 'platform', row.id)
      if (!locked) return
      await setLooked(tx, row.id, problem, now())
      const data = { ...eventData(locked), updated_fields: ['mta_sts_problem'] }
      await events.emit(tx, DomainUpdated, eventSubject(locked), data)
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
