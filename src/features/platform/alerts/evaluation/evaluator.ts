import type { Core } from '../../../../core.ts'
import type { Tx } from '../../../../database/database.ts'
import { withinTime } from '../../../../lib/kept-value.ts'
import type { BlockNeeds } from '../../overview/blocks/block.ts'
import { metricOf } from '../alert-metrics.ts'
import { sentenceOf } from '../delivery/notification.ts'
import { decide } from './decide.ts'
import * as rules from './evaluation.repository.ts'

const PATIENCE_MS = 10_000

export type Evaluator = ReturnType<typeof evaluator>

/**
 * Looks at every enabled rule once. Figures are read first, each once for all rules that look at it;
 * what follows from them is stored in one transaction, together with what is to be told.
 */
export function evaluator(core: BlockNeeds & Pick<Core, 'log'>) {
  const { config, db, log, now } = core

  async function read(): Promise<Map<string, number>> {
    const values = new Map<string, number>()
    const wanted = await rules.wantedMetrics(db)
    await Promise.all(
      wanted.map(async ({ metric, organization_id }) => {
        try {
          const value = await withinTime(metricOf(metric).read(core, organization_id), PATIENCE_MS)
          if (value !== null) values.set(keyOf(metric, organization_id), value)
        } catch (error) {
          // Neither good nor bad: what cannot be read fires nothing and resolves nothing.
          log.warn({ err: error, metric }, 'the metric of an alert rule could not be read')
        }
      }),
    )
    return values
  }

  async function apply(tx: Tx, rule: rules.LockedRule, value: number, time: Date): Promise<void> {
    const decision = decide(rule, value, time, config.ALERT_NOTIFICATION_COOLDOWN)
    const { breachBegan, fire, resolve, tell } = decision
    const began = rule.breach_began_at === null ? null : new Date(rule.breach_began_at)
    if (breachBegan?.getTime() !== began?.getTime()) await rules.setBreach(tx, rule.id, breachBegan)
    const event = fire
      ? await rules.fire(tx, rule, value, sentenceOf(rule, value), time)
      : rule.open_id
    if (event === null) return
    if (tell) {
      await rules.enqueue(tx, event, rule.channel_ids, 'firing', time)
      await rules.markNotified(tx, rule.id, event, time)
    }
    if (resolve) {
      await rules.resolve(tx, event, time)
      // Who was not told that it began need not hear that it ended.
      if (rule.open_notified_at !== null) {
        await rules.enqueue(tx, event, rule.channel_ids, 'resolved', time)
      }
    }
  }

  return {
    async run(): Promise<void> {
      const readAt = now()
      const values = await read()
      if (values.size === 0) return
      await db.transaction().execute(async (tx) => {
        const locked = await rules.lockRules(tx, readAt)
        const known = locked.flatMap((rule) => {
          const value = values.get(keyOf(rule.metric, rule.organization_id))
          return value === undefined ? [] : [{ rule, value }]
        })
        for (const { rule, value } of known) await apply(tx, rule, value, readAt)
        const ids = known.map(({ rule }) => rule.id)
        await rules.markEvaluated(tx, ids, readAt)
      })
    },
  }
}

const keyOf = (metric: string, organization: string | null): string =>
  `${metric} ${organization ?? ''}`
