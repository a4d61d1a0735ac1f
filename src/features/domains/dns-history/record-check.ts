import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { lock } from '../domains.repository.ts'
import type { Check } from '../verify-dns/dns-check.ts'
import * as history from './dns-history.repository.ts'

export const CHECKS = ['mx', 'spf', 'dkim', 'dmarc', 'ownership'] as const
export const OUTCOMES = ['pass', 'missing', 'different', 'unknown'] as const

type CheckName = (typeof CHECKS)[number]
type Outcome = (typeof OUTCOMES)[number]

const MAX_STORED = 100

/** Stores the result of a look at DNS: as a new row when it differs, otherwise as the time of the look. */
export const recordCheck = (
  { db, now }: Pick<Core, 'db' | 'now'>,
  domainId: string,
  checks: Record<CheckName, Check>,
) =>
  db.transaction().execute(async (tx) => {
    // The lock orders concurrent checks of a domain, and its deletion.
    if (!(await lock(tx, 'platform', domainId))) return
    const last = await history.findCurrent(tx, domainId)
    const at = now().toISOString()
    const results = Object.fromEntries(
      CHECKS.map((name) => [name, outcomeOf(checks[name], last?.[name])]),
    ) as Record<CheckName, Outcome>
    if (last && CHECKS.every((name) => last[name] === results[name])) {
      await history.setSeen(tx, last.id, at)
      return
    }
    await history.endCurrent(tx, domainId)
    await history.insert(tx, {
      id: ulid(),
      domain_id: domainId,
      ...results,
      first_seen_at: at,
      last_seen_at: at,
    })
    await history.removeBeyond(tx, domainId, MAX_STORED)
  })

/** A look without an answer says nothing new: the last outcome stays. */
function outcomeOf(check: Check, last: Outcome | undefined): Outcome {
  if (check.unanswered) return last ?? 'unknown'
  if (check.status === 'pass') return 'pass'
  return check.actual ? 'different' : 'missing'
}
