import { DAY_MS } from '../../../lib/time.ts'
import type { PolicyFields, PolicyRow } from './policies.repository.ts'

const GRACE_PERIOD_MS = 7 * DAY_MS

const fieldsOf = ({ retention_days, auto_archive, archive_after_days }: PolicyFields) => ({
  retention_days,
  auto_archive,
  archive_after_days,
})

/** The policy that applies now; null when none does. */
export function inForce(policy: PolicyRow | undefined, now: Date): PolicyFields | null {
  if (!policy) return null
  return new Date(policy.applies_from) <= now ? fieldsOf(policy) : policy.previous
}

/** A policy that deletes or moves more mail than before starts after the grace period, any other one now. */
export function scheduled(next: PolicyFields, current: PolicyFields | null, now: Date) {
  if (!isStricter(next, current)) return { applies_from: now.toISOString(), previous: null }
  const applies_from = new Date(now.getTime() + GRACE_PERIOD_MS).toISOString()
  return { applies_from, previous: current }
}

function isStricter(next: PolicyFields, current: PolicyFields | null): boolean {
  if (current === null || next.retention_days < current.retention_days) return true
  if (!next.auto_archive) return false
  return !current.auto_archive || next.archive_after_days < current.archive_after_days
}
