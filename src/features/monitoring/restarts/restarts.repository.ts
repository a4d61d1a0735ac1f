import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

const MOST = 3
const COOLDOWN_SECONDS = 300

interface Attempt {
  id: string
  service: string
  automatic: boolean
  reason: string | null
  now: Date
}

/**
 * Records an attempt before it starts. Returns undefined when it may start, otherwise the seconds to
 * wait: after three attempts in five minutes another one would not help.
 */
export const claimAttempt = (
  db: Db,
  { id, service, automatic, reason, now }: Attempt,
  force: boolean,
): Promise<number | undefined> =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`restart of ${service}`}, 0))`.execute(
      tx,
    )
    const since = new Date(now.getTime() - COOLDOWN_SECONDS * 1000)
    const earlier = await tx
      .selectFrom('service_restarts')
      .select('attempted_at')
      .where('service', '=', service)
      .where('attempted_at', '>', since.toISOString())
      .orderBy('attempted_at', 'desc')
      .limit(MOST)
      .execute()
    const oldest = earlier[MOST - 1]
    if (oldest && !force) {
      const free = new Date(oldest.attempted_at).getTime() + COOLDOWN_SECONDS * 1000
      return Math.max(1, Math.ceil((free - now.getTime()) / 1000))
    }
    await tx
      .insertInto('service_restarts')
      .values({ id, service, automatic, reason, attempted_at: now.toISOString() })
      .execute()
    return undefined
  })

export const noteOutcome = (db: Db, id: string, error: string | null) =>
  db
    .updateTable('service_restarts')
    .set({ succeeded: error === null, error })
    .where('id', '=', id)
    .execute()

export const deleteAttemptsBefore = (db: Db, before: Date) =>
  db.deleteFrom('service_restarts').where('attempted_at', '<', before.toISOString()).execute()
