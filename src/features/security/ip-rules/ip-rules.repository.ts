import { sql } from 'kysely'
import type { RuleUse } from '../../../access/address-rules.repository.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inOrder, nameOf, pageAndTotal, withIds } from '../../../database/paging.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'

export type RuleType = 'whitelist' | 'blacklist'

export interface IpRuleFilter {
  rule_type?: RuleType
  active?: boolean
  organization_id?: string
  q?: string
}

export type IpRuleSort = Sort<'created_at' | 'updated_at' | 'ip_address' | 'rule_type'>

const columns = [
  'ip_access_rules.id',
  'ip_access_rules.organization_id',
  nameOf('organizations', 'ip_access_rules.organization_id').as('organization_name'),
  sql<RuleType>`ip_access_rules.rule_type`.as('rule_type'),
  'ip_access_rules.ip_address',
  sql<RuleUse[]>`ip_access_rules.applies_to`.as('applies_to'),
  'ip_access_rules.description',
  'ip_access_rules.active',
  'ip_access_rules.created_by',
  'ip_access_rules.created_at',
  'ip_access_rules.updated_at',
] as const

export async function list(db: Db, filter: IpRuleFilter, sort: IpRuleSort, page: Page) {
  let query = db.selectFrom('ip_access_rules')
  const { rule_type, active, organization_id, q } = filter
  if (rule_type !== undefined) query = query.where('rule_type', '=', rule_type)
  if (active !== undefined) query = query.where('active', '=', active)
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (q) query = query.where(contains(['ip_address', 'description'], q))
  const { ids, total } = await pageAndTotal(db, query, 'ip_access_rules', sort, page)
  const rows = await db
    .selectFrom('ip_access_rules')
    .select(columns)
    .where(withIds('ip_access_rules', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('ip_access_rules')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

interface NewRow {
  id: string
  organization_id: string
  rule_type: RuleType
  ip_address: string
  applies_to: RuleUse[]
  description: string | null
  created_by: string | null
  created_at: string
  updated_at: string
}

export const insert = (tx: Tx, rule: NewRow) =>
  tx.insertInto('ip_access_rules').values(rule).returning(columns).executeTakeFirstOrThrow()

export const update = (
  tx: Tx,
  id: string,
  fields: {
    description?: string | null
    active?: boolean
    rule_type?: RuleType
    applies_to?: RuleUse[]
  },
  now: Date,
) =>
  tx
    .updateTable('ip_access_rules')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx
    .deleteFrom('ip_access_rules')
    .where('id', '=', id)
    .returning(['id', 'organization_id'])
    .executeTakeFirst()

export async function countWhitelist(tx: Tx, organizationId: string): Promise<number> {
  const { total } = await tx
    .selectFrom('ip_access_rules')
    .select(sql<number>`count(*)`.as('total'))
    .where('organization_id', '=', organizationId)
    .where('rule_type', '=', 'whitelist')
    .where('active', '=', true)
    .executeTakeFirstOrThrow()
  return total
}
