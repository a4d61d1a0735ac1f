import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ServiceUnavailable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { NoPolicyToCancel, PolicyNotFound } from '../compliance.errors.ts'
import { lockOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { inForce, scheduled } from './grace-period.ts'
import * as policies from './policies.repository.ts'
import { previewOf } from './preview.ts'

const DEFAULTS = { auto_archive: false, archive_after_days: 90 }

type Sent = Pick<policies.PolicyFields, 'retention_days'> & Partial<policies.PolicyFields>

export type PolicyService = ReturnType<typeof policyService>

export function policyService(core: Core) {
  const { change, db, now } = core

  const shown = (policy: policies.PolicyRow) => {
    const { previous: _previous, ...row } = policy
    const current = inForce(policy, now())
    const isScheduled = new Date(policy.applies_from) > now()
    const status: 'scheduled' | 'in_force' = isScheduled ? 'scheduled' : 'in_force'
    return { ...row, status, in_force: current }
  }

  async function locked(tx: Parameters<typeof policies.remove>[0], organizationId: string) {
    if (!(await lockOrganization(tx, organizationId))) throw new OrganizationNotFound()
    return policies.find(tx, organizationId)
  }

  return {
    async list(organizationId: string | undefined, page: Page) {
      const { items, total } = await policies.list(db, organizationId, page)
      return paginated(items.map(shown), total, page)
    },

    /** Fields that were not sent keep their value. `legal_hold` cannot be set by the API. */
    set: (caller: Caller, organizationId: string, { reason, ...sent }: Sent & { reason: string }) =>
      change(caller, async (tx) => {
        const before = await locked(tx, organizationId)
        const fields = {
          retention_days: sent.retention_days,
          auto_archive: sent.auto_archive ?? before?.auto_archive ?? DEFAULTS.auto_archive,
          archive_after_days:
            sent.archive_after_days ?? before?.archive_after_days ?? DEFAULTS.archive_after_days,
        }
        const at = now()
        const start = scheduled(fields, inForce(before, at), at)
        const row = { id: ulid(), organization_id: organizationId, ...fields, ...start }
        const policy = await policies.upsert(tx, row, at)
        const action = 'retention_policy.set'
        const details = { ...fields, applies_from: policy.applies_from, reason }
        await record(tx, caller, { action, organization_id: organizationId, details }, at)
        return shown(policy)
      }),

    /** Returns the policy that stays in force; null when there was none before. */
    cancel: (caller: Caller, organizationId: string, reason: string) =>
      change(caller, async (tx) => {
        const before = await locked(tx, organizationId)
        if (!before) throw new PolicyNotFound()
        if (new Date(before.applies_from) <= now()) throw new NoPolicyToCancel()
        const { id, previous } = before
        const action = 'retention_policy.cancelled'
        const details = { retention_days: before.retention_days, in_force: previous, reason }
        await record(tx, caller, { action, organization_id: organizationId, details }, now())
        if (!previous) {
          await policies.remove(tx, organizationId)
          return null
        }
        const applies_from = now().toISOString()
        const row = { ...previous, id, organization_id: organizationId, previous: null }
        return shown(await policies.upsert(tx, { ...row, applies_from }, now()))
      }),

    remove: (caller: Caller, organizationId: string, reason: string) =>
      change(caller, async (tx) => {
        const before = await locked(tx, organizationId)
        if (!before) throw new PolicyNotFound()
        await policies.remove(tx, organizationId)
        const action = 'retention_policy.deleted'
        const details = { retention_days: before.retention_days, reason }
        await record(tx, caller, { action, organization_id: organizationId, details }, now())
        return shown(before)
      }),

    /** Counts what a policy would delete and move today. */
    async preview(organizationId: string, sent: Partial<policies.PolicyFields>, after: string) {
      const policy = await policies.find(db, organizationId)
      const retention_days = sent.retention_days ?? policy?.retention_days
      if (retention_days === undefined) throw new PolicyNotFound()
      const fields = {
        retention_days,
        auto_archive: sent.auto_archive ?? policy?.auto_archive ?? DEFAULTS.auto_archive,
        archive_after_days:
          sent.archive_after_days ?? policy?.archive_after_days ?? DEFAULTS.archive_after_days,
      }
      try {
        const isOnHold = policy?.legal_hold ?? false
        return { ...fields, ...(await previewOf(core, organizationId, fields, isOnHold, after)) }
      } catch (error) {
        if (!(error instanceof DoveadmAway)) throw error
        throw new ServiceUnavailable('Mail server unavailable')
      }
    },
  }
}
