import type { Db } from '../database/database.ts'

/** 0 or 1; null when the tenant has never set the policy of the domain. */
export interface SpamPolicy {
  policy_bl_only: number | null
  policy_reject_spam: number | null
  policy_greylist: number | null
  policy_rbl: number | null
}

export const spamPoliciesOf = (
  db: Db,
  organizationId: string,
  domains: readonly string[],
): Promise<SpamPolicy[]> =>
  db
    .selectFrom('domains')
    .select(['policy_bl_only', 'policy_reject_spam', 'policy_greylist', 'policy_rbl'])
    .where('organization_id', '=', organizationId)
    .where('domain', 'in', domains)
    .execute()
