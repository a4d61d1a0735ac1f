import { inCopies, microsOf, type PastDays } from '../../../hosting/past-days.ts'
import { ch, type Fragment } from '../../../outbound/clickhouse.ts'
import type { Expiring } from './old-rows.repository.ts'

/** Old rows of the log in days that have moved to ClickHouse, with the conditions of `logRows`. */
function isOld({ organization_id, before, held }: Expiring): Fragment {
  const isOlder = ch`organization_id = ${organization_id} and at < ${microsOf(before)}`
  if (held.length === 0) return isOlder
  return ch`${isOlder} and not (lowerUTF8(sender) in ${held} or lowerUTF8(recipient) in ${held}
    or ifNull(lowerUTF8(original_recipient) in ${held}, 0))`
}

export async function countPast(past: PastDays, expiring: Expiring): Promise<number> {
  const copies = await past.copiesIn({ to: expiring.before })
  if (copies.length === 0) return 0
  const rows = inCopies(copies, [isOld(expiring)])
  const [found] = await past.store().select<{ total: string }>(ch`select count() as total ${rows}`)
  return Number(found?.total ?? 0)
}

/** Deletes all of them at once. */
export async function expirePast(past: PastDays, expiring: Expiring): Promise<number> {
  const copies = await past.copiesIn({ to: expiring.before })
  return copies.length === 0 ? 0 : past.change(copies, ch`delete`, isOld(expiring))
}
