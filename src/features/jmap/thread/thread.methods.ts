import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { JmapError } from '../core/errors.ts'
import { LIMITS, MAIL } from '../core/limits.ts'
import type { Method } from '../core/method.ts'
import { changesOf, getObjects } from '../core/standard-methods.ts'

const get: Method = {
  capability: MAIL,
  run: ({ core: { db }, mail: { account } }, args) =>
    getObjects(args, {
      db,
      accountId: account.id,
      properties: ['id', 'emailIds'],
      read: (ids) => threads(db, account.id, ids),
    }),
}

/** Messages of a thread, oldest first. */
async function threads(db: Db, accountId: string, ids: string[] | undefined) {
  const wanted = ids ? sql`thread_id = any(${ids}::text[])` : sql`true`
  const { rows } = await sql<{ id: string; emailIds: string[] }>`
    select thread_id as id, array_agg(id order by received_at, id) as "emailIds"
    from jmap_emails
    where account_id = ${accountId} and not is_orphan and ${wanted}
    group by thread_id
    limit ${LIMITS.maxObjectsInGet + 1}`.execute(db)
  if (rows.length > LIMITS.maxObjectsInGet) throw new JmapError('requestTooLarge')
  return rows
}

const changes: Method = {
  capability: MAIL,
  run: async ({ core: { db }, mail: { account } }, args) =>
    (await changesOf(db, account.id, 'Thread', args)).result,
}

export const threadMethods: Record<string, Method> = {
  'Thread/get': get,
  'Thread/changes': changes,
}
