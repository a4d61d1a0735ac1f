import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { engagement, uniquesUntilNow } from '../engagement.repository.ts'
import { daysOf, windowOf } from '../window.ts'
import * as overviews from './overview.repository.ts'

const REALTIME_HOURS = 3

type Seen = Pick<Caller, 'scope'>

export type OverviewService = ReturnType<typeof overviewService>

/** Figures of all domains that a caller may see. They come from the rollups, never from the log. */
export function overviewService({ db, now }: Pick<Core, 'db' | 'now'>) {
  const generated_at = () => now().toISOString()
  return {
    async overview({ scope }: Seen, days: number) {
      const window = windowOf({ days }, now())
      const owner = overviews.ownerOf(scope)
      const [daily, tracked_emails, people, unique] = await Promise.all([
        overviews.daily(db, scope, window, daysOf(window)),
        overviews.trackedMessages(db, scope, window),
        engagement(db, owner, window),
        uniquesUntilNow(db, owner, window),
      ])
      return {
        days,
        daily,
        tracking: {
          tracked_emails,
          total_opens: people.opened,
          unique_opens: unique.opened,
          total_clicks: people.clicked,
          unique_clicks: unique.clicked,
        },
        generated_at: generated_at(),
      }
    },

    async domains({ scope }: Seen, days: number) {
      const domains = await overviews.byDomain(db, scope, windowOf({ days }, now()))
      return { days, domains, generated_at: generated_at() }
    },

    /** The last hours by quarters. */
    async realtime({ scope }: Seen) {
      const start = new Date(now().getTime() - REALTIME_HOURS * HOUR_MS).toISOString()
      const quarters = await overviews.byQuarter(db, scope, windowOf({ start }, now()))
      return { hours: REALTIME_HOURS, quarters, generated_at: generated_at() }
    },
  }
}
