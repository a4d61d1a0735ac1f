import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts'
import { lookInBatches } from '../../../mail/look-in-batches.ts'
import { ClaimExpiring, eventData, eventSubject } from '../domains.events.ts'
import * as claims from './ownership.repository.ts'
import { CLAIM_MS, WARNING_MS } from './ownership.rules.ts'
import { checkOwnership, provenCheck } from './ownership-check.ts'
import { endClaim, prove } from './prove.ts'

const LOOK_AGAIN_MS = 5 * MINUTE_MS
const LOOKS_PER_RUN = 100
/** A claim never ends without this much time after its warning, also when the host was stopped. */
const LEAST_WARNING_MS = DAY_MS

type Due = Awaited<ReturnType<typeof claims.dueForLookup>>[number]

/** Looks for the records of pending claims. */
export const lookForOwnership: Job = {
  name: 'domains.look-for-ownership',
  everySeconds: 60,
  async run(core) {
    const since = new Date(core.now().getTime() - LOOK_AGAIN_MS)
    const due = await claims.dueForLookup(core.db, since, LOOKS_PER_RUN)
    await lookInBatches(due, (claim) => look(core, claim))
  },
}

/** Returns whether DNS answered. */
async function look(core: Core, claim: Due): Promise<boolean> {
  const { config, db, log, now, withDns } = core
  await claims.setChecked(db, claim.id, now())
  const token = await claims.tokenOf(db, claim.organization_id)
  const isOff = config.SVC_DOMAIN_OWNERSHIP === 'off'
  const check = isOff
    ? provenCheck(claim.domain, token)
    : await withDns((dns) => checkOwnership(claim.domain, token, dns))
  if (check.status !== 'pass') return !check.unanswered
  try {
    await db.transaction().execute((tx) => prove(core, tx, claim, isOff ? 'setting' : 'dns'))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.info({ domain: claim.domain, reason: error.message }, 'ownership record does not suffice')
  }
  return true
}

/** Announces the end of pending claims, and deletes those that were not proven in time. */
export const endClaims: Job = {
  name: 'domains.end-claims',
  everySeconds: 900,
  async run({ db, events, now }) {
    const time = now().getTime()
    const ago = (ms: number) => new Date(time - ms)
    await db.transaction().execute(async (tx) => {
      for (const claim of await claims.warn(tx, ago(CLAIM_MS - WARNING_MS), now())) {
        const end = Math.max(Date.parse(claim.created_at) + CLAIM_MS, time + LEAST_WARNING_MS)
        await events.emit(tx, ClaimExpiring, eventSubject(claim), {
          ...eventData(claim),
          expires_at: new Date(end).toISOString(),
        })
      }
    })
    for (const { id, domain } of await claims.lapsed(db, ago(CLAIM_MS), ago(LEAST_WARNING_MS))) {
      await db.transaction().execute(async (tx) => {
        await claims.lockName(tx, domain)
        const claim = (await claims.claimsOn(tx, domain)).find((one) => one.id === id)
        if (claim) await endClaim(events, tx, claim, 'lapsed', now())
      })
    }
  },
}
