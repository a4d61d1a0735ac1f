import { sql } from 'kysely'
import { countHosted } from '../../../hosting/tenants.repository.ts'
import { percent } from '../../../lib/percent.ts'
import { ago, type Block, type BlockNeeds } from './block.ts'

const WEEK_HOURS = 7 * 24

interface WithGrowth {
  total: number
  delta_7d: number
}

export const organizations: Block<WithGrowth & { active: number; suspended: number }> = async ({
  db,
  now,
}) =>
  db
    .selectFrom('organizations')
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) filter (where active)`.as('active'),
      sql<number>`count(*) filter (where not active)`.as('suspended'),
      sql<number>`count(*) filter (where created_at > ${ago(now(), WEEK_HOURS)})`.as('delta_7d'),
    ])
    .executeTakeFirstOrThrow()

export const domains: Block<WithGrowth> = async (needs) => ({
  total: await countHosted(needs.db, 'domain_count'),
  delta_7d: await addedLastWeek(needs, 'domains'),
})

export const mailboxes: Block<WithGrowth> = async (needs) => ({
  total: await countHosted(needs.db, 'email_account_count'),
  delta_7d: await addedLastWeek(needs, 'email_accounts'),
})

async function addedLastWeek({ db, now }: BlockNeeds, table: 'domains' | 'email_accounts') {
  const { added } = await db
    .selectFrom(table)
    .select(sql<number>`count(*)`.as('added'))
    .where('created_at', '>', ago(now(), WEEK_HOURS))
    .executeTakeFirstOrThrow()
  return added
}

const TOP_CONSUMERS = 5

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
    .limit(TOP_CONSUMERS)
    .execute()
  return {
    used_bytes,
    quota_bytes,
    used_percent: percent(used_bytes, quota_bytes),
    top_consumers,
  }
}
