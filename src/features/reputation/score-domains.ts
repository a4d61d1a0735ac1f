import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { occurrence } from '../../events/events.ts'
import { lastTwo, type PeriodType } from './period.ts'
import { ReputationChanged } from './reputation.events.ts'
import * as scores from './scores.repository.ts'
import { deliverabilityScore, engagementScore, overallScore, ratesOf, ratingOf } from './scoring.ts'

/** Below this number of messages a rating is chance and emits no event. */
const ENOUGH_MAIL = 10
const BEGINS_WITH = 100
const AT_ONCE = 1000

type Needs = Pick<Core, 'db' | 'events' | 'now'>

/** Scores the previous and the current period of every domain with mail in them. */
export async function scoreDomains(core: Needs, type: PeriodType): Promise<void> {
  const { db, now } = core
  for (const period of lastTwo(type, now())) {
    const counted = await scores.countsIn(db, type, period)
    const isToday = type === 'DAILY' && period.end > now()
    for (let at = 0; at < counted.length; at += AT_ONCE) {
      const some = counted.slice(at, at + AT_ONCE)
      await db.transaction().execute(async (tx) => {
        await scores.storeScores(tx, type, period, some.map(scoreOf))
        if (isToday) await tellChanges(core, tx, some)
      })
    }
  }
}

const scoreOf = (counts: scores.Counted): scores.Score => ({
  domain_id: counts.domain_id,
  organization_id: counts.organization_id,
  domain: counts.domain,
  overall_score: overallScore(counts),
  deliverability_score: deliverabilityScore(counts),
  engagement_score: engagementScore(counts),
  emails_sent: counts.sent,
  emails_delivered: counts.delivered,
  emails_bounced: counts.bounced,
  emails_complained: counts.complained,
  emails_opened: counts.opened,
  emails_clicked: counts.clicked,
  isp_data: counts.by_isp && { complaints: counts.by_isp },
})

/** A rating that differs from the last emitted one. */
async function tellChanges({ events, now }: Needs, tx: Tx, counted: scores.Counted[]) {
  const weighty = counted.filter(({ sent }) => sent >= ENOUGH_MAIL)
  if (weighty.length === 0) return
  const told = await scores.toldScores(
    tx,
    weighty.map(({ domain_id }) => domain_id),
  )
  const changes = weighty.flatMap((counts) => {
    const old_score = told.get(counts.domain_id) ?? BEGINS_WITH
    const new_score = overallScore(counts)
    return ratingOf(old_score) === ratingOf(new_score) ? [] : [{ counts, old_score, new_score }]
  })
  if (changes.length === 0) return
  await events.emitMany(
    tx,
    changes.map(({ counts, old_score, new_score }) =>
      occurrence(
        ReputationChanged,
        { org_id: counts.organization_id, domain: counts.domain },
        {
          domain: counts.domain,
          old_score,
          new_score,
          rating: ratingOf(new_score),
          ...ratesOf(counts),
        },
      ),
    ),
  )
  const remembered = changes.map(({ counts, new_score }) => ({
    domain_id: counts.domain_id,
    score: new_score,
  }))
  await scores.rememberTold(tx, remembered, now())
}
