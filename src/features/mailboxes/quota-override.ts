import type { Caller } from '../../access/caller.ts'
import { QuotaOverridden } from '../organizations/organizations.errors.ts'

interface Overridable {
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
}

/** An operator's word on quotas stands until an operator takes it back with force. */
export const overrideBy = (caller: Caller, force: boolean, now: Date): Overridable =>
  caller.kind === 'operator' && !force
    ? {
        quota_override: true,
        quota_override_at: now.toISOString(),
        quota_override_by: caller.email,
      }
    : { quota_override: false, quota_override_at: null, quota_override_by: null }

export function refuseOverridden(row: Overridable, caller: Caller): void {
  if (row.quota_override && caller.kind !== 'operator') {
    throw new QuotaOverridden({ by: row.quota_override_by, at: row.quota_override_at })
  }
}
