import type { Caller } from '../../access/caller.ts'
import { QuotaOverridden } from './organizations.errors.ts'

interface QuotaOverride {
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
}

/** Quotas set by an operator become an override, until an operator writes them with `force`. */
export const overrideBy = (caller: Caller, force: boolean, now: Date): QuotaOverride =>
  caller.kind === 'operator' && !force
    ? {
        quota_override: true,
        quota_override_at: now.toISOString(),
        quota_override_by: caller.email,
      }
    : { quota_override: false, quota_override_at: null, quota_override_by: null }

/** Only an operator may change quotas that have an override. */
export function refuseOverridden(row: QuotaOverride, caller: Caller): void {
  if (row.quota_override && caller.kind !== 'operator') {
    throw new QuotaOverridden({ by: row.quota_override_by, at: row.quota_override_at })
  }
}
