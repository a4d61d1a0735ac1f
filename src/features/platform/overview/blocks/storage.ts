import { sql } from 'kysely'
import { percent } from '../../../../lib/percent.ts'
import type { Block } from './block.ts'

const TOP = 5

interface Storage {
  used_bytes: number
  quota_bytes: number
  used_percent: number
  top_consumers: { domain: string; used_bytes: number }[]
}

export const storage: Block<Storage> = async ({ db }, organization) => {
  let totals = db.selectFrom('organizations')
  let consumers = db.selectFrom('domains')
  if (organization !== null) {
    totals = totals.where('id', '=', organization)
    consumers = consumers.where('organization_id', '=', organization)
  }
  const { used_bytes, quota_bytes } = await totals
    .select([
      sql<number>`coalesce(sum(total_storage_used), 0)::bigint`.as('used_bytes'),
      sql<number>`coalesce(sum(storage_quota), 0)::bigint`.as('quota_bytes'),
    ])
    .executeTakeFirstOrThrow()
  const top_consumers = await consumers
    .select(['domain', 'total_storage_used as used_bytes'])
    .orderBy('total_storage_used', 'desc')
    .orderBy('domain')
    .limit(TOP)
    .execute()
  return {
    used_bytes,
    quota_bytes,
    used_percent: percent(used_bytes, quota_bytes),
    top_consumers,
  }
}
