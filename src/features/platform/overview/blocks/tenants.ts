import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import { ago, type Block, type BlockNeeds } from './block.ts'

const WEEK_HOURS = 7 * 24

interface Grown {
  total: number
  delta_7d: number
}

export const organizations: Block<Grown & { active: number; suspended: number }> = async ({
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

export const domains: Block<Grown> = async (needs) => ({
  total: await counted(needs.db, 'domain_count'),
  delta_7d: await newIn(needs, 'domains'),
})

export const mailboxes: Block<Grown> = async (needs) => ({
  total: await counted(needs.db, 'email_account_count'),
  delta_7d: await newIn(needs, 'email_accounts'),
})

/** From the counters that triggers keep: the mailboxes themselves are too many to count. */
async function counted(db: Db, column: 'domain_count' | 'email_account_count'): Promise<number> {
  const { total } = await db
    .selectFrom('organizations')
    .select(sql<number>`coalesce(sum(${sql.ref(column)}), 0)::bigint`.as('total'))
    .executeTakeFirstOrThrow()
  return total
}

async function newIn({ db, now }: BlockNeeds, table: 'domains' | 'email_accounts') {
  const { added } = await db
    .selectFrom(table)
    .select(sql<number>`count(*)`.as('added'))
    .where('created_at', '>', ago(now(), WEEK_HOURS))
    .executeTakeFirstOrThrow()
  return added
}
