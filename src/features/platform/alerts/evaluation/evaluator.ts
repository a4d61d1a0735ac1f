import type { Core } from '../../../../core.ts'
import type { Tx } from '../../../../database/database.ts'
import { within } from '../../../../lib/timeout.ts'
import type { BlockNeeds } from '../../overview/block.ts'
import { metricOf } from '../alert-metrics.ts'
import { sentenceOf } from '../delivery/notification.ts'
import { decide } from './decide.ts'
import * as rules from './evaluation.repository.ts'

const READ_TIMEOUT_MS = 10_000

/**
 * Evaluates every enabled rule once. Each metric is read once for all rules that use it. State changes
 * and notifications are stored in one transaction.
 */
export function evaluator(core: BlockNeeds & Pick<Core, 'log'>) {
  const { config, db, log, now } = core

  async function readMetrics(): Promise<Map<string, number>> {
    const values = new Map<string, number>()
    const metrics = await rules.metricsInUse(db)
    await Promise.all(
      metrics.map(async ({ metric, organization_id }) => {
        try {
          const value = await within(READ_TIMEOUT_MS, metricOf(metric).read(core, organization_id))
          if (value !== null) values.set(keyOf(metric, organization_id), value)
        } catch (error) {
          // Without a value a rule neither fires nor resolves.
          log.warn({ err: error, metric }, 'reading the metric of an alert rule failed')
        }
      }),
    )
    return values
  }

  async function apply(tx: Tx, rule: rules.LockedRule, value: number, time: Date): Promise<void> {
    const decision = decide(rule, value, time, config.ALERT_NOTIFICATION_COOLDOWN)
    const { breachBegan, fire, resolve, notify } = decision
    const began = rule.breach_began_at === null ? null : new Date(rule.breach_began_at)
    if (breachBegan?.getTime() !== began?.getTime()) await rules.setBreach(tx, rule.id, breachBegan)
    const event = fire
      ? await rules.fire(tx, rule, value, sentenceOf(rule, value), time)
      : rule.open_id
    if (event === null) return
    if (notify) {
      await rules.enqueue(tx, event, rule.channel_ids, 'firing', time)
      await rules.markNotified(tx, rule.id, event, time)
    }
    if (resolve) {
      await rules.resolve(tx, event, time)
      // Without a notification of the start, none of the end is sent.
      if (rule.open_notified_at !== null) {
        await rules.enqueue(tx, event, rule.channel_ids, 'resolved', time)
      }
    }
  }

  return {
    async run(): Promise<void> {
      const readAt = now()
      const values = await readMetrics()
      if (values.size === 0) return
      await db.transaction().execute(async (tx) => {
        const locked = await rules.lockRules(tx, readAt)
        const measured = locked.flatMap((rule) => {
          const value = values.get(keyOf(rule.metric, rule.organization_id))
          return value === undefined ? [] : [{ rule, value }]
        })
        for (const { rule, value } of measured) await apply(tx, rule, value, readAt)
        const ids = measured.map(({ rule }) => rule.id)
        await rules.markEvaluated(tx, ids, readAt)
      })
    },
  }
}

const keyOf = (metric: string, organization: string | null): string =>
  `${metric} ${organization ?? ''}`
