import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { inCopies, microsOf, pastDays } from '../../../hosting/past-days.ts'
import { midnightOf } from '../../../lib/dates.ts'
import { ch, type Fragment, joined } from '../../../outbound/clickhouse.ts'
import { dropCopy } from './log-table.ts'
import * as moves from './moves.repository.ts'

/**
 * Drops days in ClickHouse that ended before this time. Of a day with rows under a legal hold, or of an
 * organization whose policy keeps them for longer, only the others are deleted.
 */
export async function dropPastDays(core: Core, before: Date): Promise<void> {
  const { clickhouse, db, log, now } = core
  const past = pastDays(core)
  if (!clickhouse) return
  for (const { day, copy_id } of await moves.movedBefore(db, midnightOf(before))) {
    const at = now()
    const kept = await keptIn(db, at)
    const rows = inCopies([copy_id], [kept])
    const [found] = await clickhouse.select(ch`select 1 ${rows} limit 1`)
    if (found) {
      const deleted = await past.change([copy_id], ch`delete`, ch`not ifNull(${kept}, 0)`)
      if (deleted > 0) log.info({ day, deleted }, 'old rows of the mail log deleted')
    } else if (await forget(db, day, { kept, at })) {
      await dropCopy(clickhouse, copy_id)
      log.info({ day }, 'old day of the mail log dropped')
    }
  }
}

/**
 * False when other rows are to be kept by now than ClickHouse was asked for. The tables are locked for a
 * moment only: a hold does not wait for ClickHouse.
 */
const forget = (db: Db, day: string, { kept, at }: { kept: Fragment; at: Date }) =>
  db.transaction().execute(async (tx) => {
    await sql`lock table legal_holds, retention_policies in share mode`.execute(tx)
    if ((await keptIn(tx, at)).text !== kept.text) return false
    await moves.forget(tx, day)
    return true
  })

interface Keeping {
  organizations: string[]
  /** Empty: all rows of the organizations. */
  custodians: string[]
  /** Only rows of this time or later. */
  since: string | null
}

/** The counterpart of `isKept` in mail-log.days.ts. */
async function keptIn(db: Db, now: Date): Promise<Fragment> {
  const at = now.toISOString()
  const { rows } = await sql<Keeping>`
    select array_agg(organization_id) as organizations, custodians, null::timestamptz as since
    from legal_holds
    where active and (end_date is null or end_date > ${at}::timestamptz) group by custodians
    union all
    select array_agg(organization_id), '{}', case when not legal_hold
      then ${at}::timestamptz - make_interval(days => greatest(retention_days,
        case when applies_from > ${at}::timestamptz
          then coalesce((previous ->> 'retention_days')::integer, 36500) end)) end as since
    from retention_policies group by since`.execute(db)
  if (rows.length === 0) return ch`0`
  const tests = rows.map(({ organizations, custodians, since }) => {
    const conditions = [ch`organization_id in ${organizations}`]
    if (custodians.length > 0) {
      conditions.push(ch`(lowerUTF8(sender) in ${custodians} or lowerUTF8(recipient) in ${custodians}
        or ifNull(lowerUTF8(original_recipient) in ${custodians}, 0))`)
    }
    if (since !== null) conditions.push(ch`at >= ${microsOf(new Date(since))}`)
    return ch`(${joined(conditions, ' and ')})`
  })
  return ch`(${joined(tests, ' or ')})`
}
