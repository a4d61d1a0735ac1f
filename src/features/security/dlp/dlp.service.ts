import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { checkPatterns } from '../../../lib/check-patterns.ts'
import { dateRange } from '../../../lib/date-range.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import {
  NothingToUpdate,
  PolicyNameTaken,
  PolicyNotFound,
  ViolationNotFound,
} from './dlp.errors.ts'
import { patternProblem } from './patterns.ts'
import * as policies from './policies.repository.ts'
import * as violations from './violations.repository.ts'
import type { PolicyType } from './vocabulary.ts'

type SentPolicy = Partial<policies.PolicyFields> & { reason: string }
type NewPolicy = SentPolicy & { organization_id: string; name: string; patterns: string[] }
type ViolationQuery = Omit<violations.ViolationFilter, 'from' | 'to'> & {
  date_from?: string
  date_to?: string
}

export type DlpService = ReturnType<typeof dlpService>

type Needs = Pick<Core, 'change' | 'db' | 'now' | 'workers'>

export function dlpService({ change, db, now, workers }: Needs) {
  const refusingTakenName = <Result>(work: () => Promise<Result>) =>
    refusing({ dlp_policies_name: () => new PolicyNameTaken() }, work)

  async function refuseBadPatterns(caller: Caller, type: PolicyType, patterns: readonly string[]) {
    if (patterns.length === 0) {
      throw invalidField('patterns', 'patterns must be a non-empty array')
    }
    const checked = await checkPatterns(workers, caller.id, type === 'regex' ? patterns : [])
    for (const pattern of patterns) {
      const problem = patternProblem(type, pattern, checked)
      if (problem !== undefined)
        throw invalidField('patterns', `${pattern.slice(0, 60)}: ${problem}`)
    }
  }

  return {
    async listPolicies(filter: policies.PolicyFilter, sort: policies.PolicySort, page: Page) {
      const { items, total } = await policies.list(db, filter, sort, page)
      return paginated(items, total, page)
    },

    async createPolicy(caller: Caller, { reason: _, ...sent }: NewPolicy) {
      const policy_type = sent.policy_type ?? 'keyword'
      await refuseBadPatterns(caller, policy_type, sent.patterns)
      return refusingTakenName(() =>
        change(caller, async (tx) => {
          if (!(await policies.lockOrganization(tx, sent.organization_id))) {
            throw new OrganizationNotFound()
          }
          return policies.insert(tx, {
            organization_id: sent.organization_id,
            name: sent.name,
            description: sent.description ?? null,
            policy_type,
            patterns: sent.patterns,
            action: sent.action ?? 'notify',
            severity: sent.severity ?? 'medium',
            enabled: sent.enabled ?? true,
            apply_to: sent.apply_to ?? 'outbound',
          })
        }),
      )
    },

    async updatePolicy(caller: Caller, id: number, { reason: _, ...fields }: SentPolicy) {
      if (Object.keys(fields).length === 0) throw new NothingToUpdate()
      return refusingTakenName(() =>
        change(caller, async (tx) => {
          const before = await policies.lock(tx, id)
          if (!before) throw new PolicyNotFound()
          const { policy_type = before.policy_type, patterns = before.patterns } = fields
          await refuseBadPatterns(caller, policy_type, patterns)
          return policies.update(tx, id, fields, now())
        }),
      )
    },

    deletePolicy: (caller: Caller, id: number) =>
      change(caller, async (tx) => {
        const policy = await policies.lock(tx, id)
        if (!policy) throw new PolicyNotFound()
        await policies.remove(tx, id)
        const violations_retained = await violations.countOfPolicy(tx, id)
        return { id, organization_id: policy.organization_id, violations_retained }
      }),

    async listViolations(
      { date_from, date_to, ...filter }: ViolationQuery,
      sort: violations.ViolationSort,
      page: Page,
    ) {
      const range = dateRange(date_from, date_to)
      const { items, total } = await violations.list(db, { ...filter, ...range }, sort, page)
      return paginated(items, total, page)
    },

    async getViolation(id: number) {
      const violation = await violations.find(db, id)
      if (!violation) throw new ViolationNotFound()
      return violation
    },

    async summary(organizationId: string | undefined, days = 30) {
      const { total, ...counts } = await violations.summary(db, organizationId, days, now())
      return { total, days, ...counts }
    },
  }
}
