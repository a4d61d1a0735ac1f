import type { Caller } from '../../../../access/caller.ts'
import type { Core } from '../../../../core.ts'
import type { Tx } from '../../../../database/database.ts'
import { Unprocessable } from '../../../../errors.ts'
import { type Page, paginated } from '../../../../http/paging.ts'
import { within } from '../../../../lib/timeout.ts'
import { ulid } from '../../../../lib/ulid.ts'
import { NoUpdatableFields } from '../../operators/operators.errors.ts'
import type { BlockNeeds } from '../../overview/block.ts'
import { isBreach, METRICS, metricOf } from '../alert-metrics.ts'
import { AlertRuleNotFound } from '../alerts.errors.ts'
import { sentenceOf } from '../delivery/notification.ts'
import { addDefaultRules } from './default-rules.ts'
import * as rules from './rules.repository.ts'

const READ_TIMEOUT_MS = 10_000
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

  /** Checks that the channels and the organization exist, and that the metric is per organization. */
  async function checkReferences(
    tx: Tx,
    fields: Partial<rules.RuleFields>,
    currentChannels: string[],
  ) {
    const { organization_id, metric, channel_ids = [] } = fields
    const existing = await rules.existingChannels(tx, channel_ids)
    // A rule may keep the id of a deleted channel.
    const unknown = channel_ids.filter((id) => !existing.has(id) && !currentChannels.includes(id))
    if (unknown.length > 0) throw new Unprocessable(`unknown channel_ids: ${unknown.join(', ')}`)
    if (typeof organization_id !== 'string') return
    if (!(await rules.lockOrganization(tx, organization_id))) {
      throw new Unprocessable('organization_id does not exist')
    }
    if (metric && !metricOf(metric).perOrganization) {
      const perOrganization = METRICS.filter((name) => metricOf(name).perOrganization).join(', ')
      throw new Unprocessable(
        `${metric} is measured for the whole platform; organization_id can be given for: ${perOrganization}`,
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
        await checkReferences(tx, fields, [])
        return rules.insert(tx, ulid(), fields, now())
      })
    },

    /** Adds the default rules that are missing; they notify these channels. */
    async addDefaults(caller: Caller, sent: string[]) {
      const channelIds = [...new Set(sent)]
      const items = await change(caller, async (tx) => {
        await checkReferences(tx, { channel_ids: channelIds }, [])
        return addDefaultRules(tx, channelIds, now())
      })
      return { items }
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
        const references = {
          metric: merged.metric,
          organization_id: merged.organization_id,
          ...(fields.channel_ids && { channel_ids: fields.channel_ids }),
        }
        await checkReferences(tx, references, before.channel_ids)
        const isDisabled = before.enabled && !merged.enabled
        if (isDisabled) await rules.resolveOpenEvent(tx, id, 'The rule was disabled', now())
        const restartsBreach =
          isDisabled || CONDITION.some((field) => before[field] !== merged[field])
        return rules.update(tx, id, fields, { restartsBreach, now: now() })
      })
    },

    async delete(caller: Caller, id: string) {
      await change(caller, async (tx) => {
        if (!(await rules.lock(tx, id))) throw new AlertRuleNotFound()
        await rules.resolveOpenEvent(tx, id, 'The rule was deleted', now())
        await rules.remove(tx, id)
      })
      return { id, deleted: true as const }
    },

    /** Dry run: sends, records and changes nothing. */
    async evaluate(id: string) {
      const rule = await get(id)
      const metric = metricOf(rule.metric)
      let value: number | null = null
      let unavailable_reason: string | null = null
      try {
        value = await within(READ_TIMEOUT_MS, metric.read(core, rule.organization_id))
        if (value === null) unavailable_reason = 'There is nothing to measure at the moment'
      } catch (error) {
        log.warn({ err: error, metric: rule.metric }, 'reading the metric of an alert rule failed')
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
