import { type Caller, isPlatform } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { InvalidRequest } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { checkPatterns } from '../../lib/check-patterns.ts'
import { ulid } from '../../lib/ulid.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { findLoop } from './loops.ts'
import {
  OrganizationRequired,
  RulesTooLarge,
  TooManyRules,
  TransportRuleNotFound,
} from './transport-rules.errors.ts'
import {
  TransportRuleCreated,
  TransportRuleDeleted,
  TransportRuleUpdated,
} from './transport-rules.events.ts'
import * as rules from './transport-rules.repository.ts'
import {
  conditionProblems,
  expressionsOf,
  readActions,
  type SentAction,
} from './transport-rules.rules.ts'
import { type Condition, MAX_RULES, MAX_RULES_BYTES, type Rule } from './vocabulary.ts'

const FIRST_PRIORITY = 10
const PRIORITY_STEP = 10

interface Sent {
  organization_id?: string
  name: string
  description?: string | null
  direction?: Rule['direction']
  conditions: Condition[]
  condition_logic?: Rule['condition_logic']
  actions: SentAction[]
  priority?: number
  enabled?: boolean
}

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now' | 'workers'>

export type TransportRuleService = ReturnType<typeof transportRuleService>

export function transportRuleService({ change, db, events, now, workers }: Needs) {
  /** A tenant acts on its own organization; a platform caller must name one. */
  async function ownerOf(tx: Tx, caller: Caller, sent: string | undefined): Promise<string> {
    if (!isPlatform(caller)) return caller.organizationId ?? ''
    if (sent === undefined) throw new OrganizationRequired()
    if (!(await rules.organizationExists(tx, sent))) throw new OrganizationNotFound()
    return sent
  }

  /** Locks all rules of the organization that owns this rule, then reads the rule again. */
  async function lockRule(tx: Tx, caller: Caller, id: string) {
    const rule = await rules.find(tx, caller.scope, id)
    if (!rule) throw new TransportRuleNotFound()
    await rules.lock(tx, rule.organization_id)
    const current = await rules.find(tx, caller.scope, id)
    if (!current) throw new TransportRuleNotFound()
    return current
  }

  async function readFields(caller: Caller, sent: Sent): Promise<rules.RuleFields> {
    const owner = caller.organizationId ?? caller.id
    const checked = await checkPatterns(workers, owner, expressionsOf(sent.conditions))
    const { actions, problems } = readActions(sent.actions)
    const all = [...conditionProblems(sent.conditions, checked), ...problems]
    if (all.length > 0) throw new InvalidRequest(all)
    return {
      name: sent.name,
      description: sent.description ?? null,
      direction: sent.direction ?? 'both',
      conditions: sent.conditions.map(({ field, operator, value }) => ({ field, operator, value })),
      condition_logic: sent.condition_logic ?? 'all',
      actions,
      priority: sent.priority ?? 100,
      enabled: sent.enabled ?? true,
    }
  }

  /** All rules of an organization are read and applied together, so their size is limited. */
  async function refuseTooLarge(tx: Tx, organizationId: string): Promise<void> {
    if ((await rules.sizeOf(tx, organizationId)) > MAX_RULES_BYTES) {
      throw new RulesTooLarge({ limit_bytes: MAX_RULES_BYTES })
    }
  }

  async function refuseLoop(tx: Tx, rule: rules.RuleRow): Promise<void> {
    if (!rule.enabled) return
    const all = await rules.enabledOf(tx, rule.organization_id)
    const loop = await findLoop(rule, all, (addresses) =>
      rules.aliasesOf(tx, rule.organization_id, addresses),
    )
    if (!loop) return
    const msg = `Mail would go in a circle: ${loop.join(' → ')}`
    throw new InvalidRequest([{ loc: ['body', 'actions'], msg, type: 'value_error' }])
  }

  return {
    async list(
      caller: Caller,
      query: { enabled_only?: boolean; organization_id?: string },
      page: Page,
    ) {
      const scope = narrowed(caller.scope, query.organization_id)
      const { items, total } = await rules.list(db, scope, query.enabled_only ?? false, page)
      return paginated(items, total, page)
    },

    async get(caller: Caller, id: string) {
      const rule = await rules.find(db, caller.scope, id)
      if (!rule) throw new TransportRuleNotFound()
      return rule
    },

    async create(caller: Caller, sent: Sent) {
      const fields = await readFields(caller, sent)
      return change(caller, async (tx) => {
        const organization_id = await ownerOf(tx, caller, sent.organization_id)
        await rules.lock(tx, organization_id)
        if ((await rules.countOf(tx, organization_id)) >= MAX_RULES) {
          throw new TooManyRules({ limit: MAX_RULES })
        }
        const rule = await rules.insert(tx, { ...fields, id: ulid(), organization_id })
        await refuseTooLarge(tx, organization_id)
        await refuseLoop(tx, rule)
        await events.emit(tx, TransportRuleCreated, { org_id: organization_id }, payloadOf(rule))
        return rule
      })
    },

    /** Replaces everything except the hit count; omitted fields get their defaults. */
    async replace(caller: Caller, id: string, sent: Sent) {
      const fields = await readFields(caller, sent)
      return change(caller, async (tx) => {
        const before = await lockRule(tx, caller, id)
        const rule = await rules.update(tx, id, fields, now())
        await refuseTooLarge(tx, before.organization_id)
        await refuseLoop(tx, rule)
        const about = { org_id: before.organization_id }
        await events.emit(tx, TransportRuleUpdated, about, payloadOf(rule))
        return rule
      })
    },

    async enable(caller: Caller, id: string, enabled: boolean) {
      return change(caller, async (tx) => {
        const before = await lockRule(tx, caller, id)
        if (before.enabled !== enabled) {
          const rule = await rules.update(tx, id, { enabled }, now())
          await refuseLoop(tx, rule)
          const about = { org_id: rule.organization_id }
          await events.emit(tx, TransportRuleUpdated, about, payloadOf(rule))
        }
        return { id, enabled }
      })
    },

    async remove(caller: Caller, id: string) {
      return change(caller, async (tx) => {
        const rule = await lockRule(tx, caller, id)
        await rules.remove(tx, id)
        const about = { org_id: rule.organization_id }
        await events.emit(tx, TransportRuleDeleted, about, payloadOf(rule))
        return { id }
      })
    },

    /** Changes all of the rules, or none when the caller does not own one of them. */
    async reorder(caller: Caller, ids: string[]) {
      const repeated = ids.findIndex((id, index) => ids.indexOf(id) !== index)
      if (repeated !== -1) {
        const loc = ['body', 'rule_ids', repeated]
        throw new InvalidRequest([{ loc, msg: 'Is listed twice', type: 'value_error' }])
      }
      return change(caller, async (tx) => {
        const owned = await rules.lockMany(tx, caller.scope, ids)
        if (owned.length < ids.length) throw new TransportRuleNotFound()
        const moved = []
        for (const [index, id] of ids.entries()) {
          const rule = await rules.update(
            tx,
            id,
            { priority: FIRST_PRIORITY + index * PRIORITY_STEP },
            now(),
          )
          const about = { org_id: rule.organization_id }
          await events.emit(tx, TransportRuleUpdated, about, payloadOf(rule))
          moved.push({ id, priority: rule.priority })
        }
        return { rules: moved }
      })
    },

    ownerOf: (caller: Caller, sent: string | undefined) =>
      db.transaction().execute((tx) => ownerOf(tx, caller, sent)),
  }
}

const payloadOf = ({ id, name, organization_id, direction, priority }: rules.RuleRow) => ({
  rule_id: id,
  name,
  organization_id,
  direction,
  priority,
})
