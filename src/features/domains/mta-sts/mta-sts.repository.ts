import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { MtaStsMode } from '../../../hosting/mta-sts.ts'

export const setMode = (tx: Tx, id: string, mode: MtaStsMode, now: Date) =>
  tx
    .updateTable('domains')
    .set({
      mta_sts_mode: mode,
      mta_sts_problem: null,
      mta_sts_checked_at: mode === 'enforce' ? now.toISOString() : null,
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()

/** Hosted domains under `enforce` that were not looked at since; organizations take turns. */
export const dueForLook = (db: Db, since: Date, limit: number) =>
  db
    .selectFrom('domains')
    .select(['id', 'domain', 'mta_sts_problem'])
    .where('hosted', '=', true)
    .where('mta_sts_mode', '=', 'enforce')
    .where((where) =>
      where.or([
        where('mta_sts_checked_at', 'is', null),
        where('mta_sts_checked_at', '<', since.toISOString()),
      ]),
    )
    .orderBy(sql`row_number() over (partition by organization_id order by mta_sts_checked_at, id)`)
    .orderBy('mta_sts_checked_at')
    .limit(limit)
    .execute()

export const setLooked = (db: Db, id: string, problem: string | null, now: Date) =>
  db
    .updateTable('domains')
    .set({ mta_sts_problem: problem, mta_sts_checked_at: now.toISOString() })
    .where('id', '=', id)
    .where('mta_sts_mode', '=', 'enforce')
    .execute()
