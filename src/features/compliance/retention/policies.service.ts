import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import * as policies from './policies.repository.ts'

const ARCHIVE_AFTER_DAYS = 90

interface Sent {
  retention_days: number
  auto_archive?: boolean
  archive_after_days?: number
  reason: string
}

export type PolicyService = ReturnType<typeof policyService>

export const policyService = ({ change, db, now }: Pick<Core, 'change' | 'db' | 'now'>) => ({
  async list(organizationId: string | undefined, page: Page) {
    const { items, total } = await policies.list(db, organizationId, page)
    return paginated(items, total, page)
  },

  /** All of it is replaced, save the flag that nothing may ever be deleted. */
  set: (caller: Caller, organizationId: string, { reason, ...sent }: Sent) =>
    change(caller, async (tx) => {
      if (!(await lockOrganization(tx, organizationId))) throw new OrganizationNotFound()
      const fields = {
        retention_days: sent.retention_days,
        auto_archive: sent.auto_archive ?? true,
        archive_after_days: sent.archive_after_days ?? ARCHIVE_AFTER_DAYS,
      }
      const row = { id: ulid(), organization_id: organizationId, ...fields }
      const policy = await policies.upsert(tx, row, now())
      const action = 'retention_policy.set'
      const details = { ...fields, reason }
      await record(tx, caller, { action, organization_id: organizationId, details }, now())
      return policy
    }),
})
