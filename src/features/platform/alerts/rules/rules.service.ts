import type { Caller } from '../../../../access/caller.ts'
import type { Core } from '../../../../core.ts'
import type { Tx } from '../../../../database/database.ts'
import { Unprocessable } from '../../../../errors.ts'
import { type Page, paginated } from '../../../../http/paging.ts'
import { withinTime } from '../../../../lib/kept-value.ts'
import { ulid } from '../../../../lib/ulid.ts'
import { NoUpdatableFields } from '../../operators/operators.errors.ts'
import type { BlockNeeds } from '../../overview/blocks/block.ts'
import { isBreach, METRICS, metricOf } from '../alert-metrics.ts'
import { AlertRuleNotFound } from '../alerts.errors.ts'
import { sentenceOf } from '../delivery/notification.ts'
import * as rules from './rules.repository.ts'

const PATIENCE_MS = 10_000
const CONDITION = ['metric', 'comparator', 'threshold', 'organization_id'] as const

type NewRule = Pick<rules.RuleFields, 'name' | 'metric' | 'comparator' | 'threshold'> &
  Partial<rules.RuleFields>

export type RuleService = ReturnType<typeof ruleService>

export function ruleService(core: BlockNeeds & Pick<Core, 'change' | 'log'>) {
  const { change, db, log, now } = core

  async function get(id: string) {
    const rule = await rules.find(db, id)
    if (!rule) throw new AlertRuleNotFound()
    return rule
  }

  /** What only the rules can judge: names that must exist, and what one organization has of. */
  async function check(tx: Tx, fields: Partial<rules.RuleFields>, before: string[]) {
    const { organization_id, metric, channel_ids = [] } = fields
    const known = await rules.knownChannels(tx, channel_ids)
    // A channel that was deleted under the rule may stay where it is.
    const unknown = channel_ids.filter((id) => !known.has(id) && !before.includes(id))
    if (unknown.length > 0) throw new Unprocessable(`unknown channel_ids: ${unknown.join(', ')}`)
    if (typeof organization_id !== 'string') return
    if (!(await rules.holdOrganization(tx, organization_id))) {
      throw new Unprocessable('organization_id does not exist')
    }
    if (metric && !metricOf(metric).perOrganization) {
      const possible = METRICS.filter((name) => metricOf(name).perOrganization).join(', ')
      throw new Unprocessable(
        `${metric} is measured for the whole platform; organization_id can be given for: ${possible}`,
      )
    }
  }

  return {
    get,

    async list(filter: rules.RuleFilter, sorting: rules.Sorting, page: Page) {
      const { items, total } = await rules.list(db, filter, sorting, page)
      return paginated(items, total, page)
    },

    async create(caller: Caller, sent: NewRule) {
      const fields: rules.RuleFields = {
        name: sent.name,
        description: sent.description ?? null,
        metric: sent.metric,
        comparator: sent.comparator,
        threshold: sent.threshold,
        for_seconds: sent.for_seconds ?? 0,
        severity: sent.severity ?? 'warning',
        enabled: sent.enabled ?? true,
        channel_ids: [...new Set(sent.channel_ids ?? [])],
        organization_id: sent.organization_id ?? null,
      }
      return change(caller, async (tx) => {
        await check(tx, fields, [])
        return rules.insert(tx, ulid(), fields, now())
      })
    },

    async update(caller: Caller, id: string, sent: Partial<rules.RuleFields>) {
      if (Object.keys(sent).length === 0) throw new NoUpdatableFields()
      return change(caller, async (tx) => {
        const before = await rules.lock(tx, id)
        if (!before) throw new AlertRuleNotFound()
        const fields = {
          ...sent,
          ...(sent.channel_ids && { channel_ids: [...new Set(sent.channel_ids)] }),
        }
        const merged: rules.RuleFields = { ...before, ...fields }
        const relevant = {
          metric: merged.metric,
          organization_id: merged.organization_id,
          ...(fields.channel_ids && { channel_ids: fields.channel_ids }),
        }
        await check(tx, relevant, before.channel_ids)
        const isDisabled = before.enabled && !merged.enabled
        if (isDisabled) await rules.endOpenEvent(tx, id, 'The rule was disabled', now())
        const beginsAnew = isDisabled || CONDITION.some((field) => before[field] !== merged[field])
        return rules.update(tx, id, fields, { beginsAnew, now: now() })
      })
    },

    async delete(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        if (!(await rules.lock(tx, id))) throw new AlertRuleNotFound()
        await rules.endOpenEvent(tx, id, 'The rule was deleted', now())
        await rules.remove(tx, id)
      })
      return { id, deleted: true as const }
    },

    /** A dry run: nothing is told, recorded or changed. */
    async evaluate(id: string) {
      const rule = await get(id)
      const metric = metricOf(rule.metric)
      let value: number | null = null
      let unavailable_reason: string | null = null
      try {
        value = await withinTime(metric.read(core, rule.organization_id), PATIENCE_MS)
        if (value === null) unavailable_reason = 'There is nothing to measure at the moment'
      } catch (error) {
        log.warn({ err: error, metric: rule.metric }, 'a metric could not be read')
        unavailable_reason = 'The metric cannot be read at the moment; see the overview'
      }
      const would_fire = value !== null && isBreach(value, rule.comparator, rule.threshold)
      return {
        rule_id: rule.id,
        name: rule.name,
        metric: rule.metric,
        comparator: rule.comparator,
        threshold: rule.threshold,
        unit: metric.unit,
        value,
        would_fire,
        severity: rule.severity,
        enabled: rule.enabled,
        for_seconds: rule.for_seconds,
        for_seconds_honoured: false as const,
        unavailable_reason,
        message: unavailable_reason ?? sentenceOf(rule, value),
        evaluated_at: now().toISOString(),
        notified: false as const,
        recorded: false as const,
      }
    },
  }
}
