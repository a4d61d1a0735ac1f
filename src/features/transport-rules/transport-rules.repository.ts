import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import type { Page } from '../../http/paging.ts'
import type { Action, Condition, Rule } from './vocabulary.ts'

const columns = [
  'id',
  'organization_id',
  'name',
  'description',
  'direction',
  sql<Condition[]>`conditions`.as('conditions'),
  'condition_logic',
  sql<Action[]>`actions`.as('actions'),
  'priority',
  'enabled',
  'hit_count',
  'created_at',
  'updated_at',
] as const

export type RuleRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface RuleFields {
  name: string
  description: string | null
  direction: Rule['direction']
  conditions: Condition[]
  condition_logic: Rule['condition_logic']
  actions: Action[]
  priority: number
  enabled: boolean
}

export async function list(
  db: Db,
  scope: Scope,
  enabledOnly: boolean,
  { perPage, offset }: Page,
): Promise<{ items: RuleRow[]; total: number }> {
  let query = db.selectFrom('transport_rules').where(inScope('transport_rules', scope))
  if (enabledOnly) query = query.where('enabled', '=', true)
  const items = await query
    .select(columns)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('transport_rules')
    .select(columns)
    .where('id', '=', id)
    .where(inScope('transport_rules', scope))
    .executeTakeFirst()

/** The enabled rules of an organization, in the order of application. */
export const enabledOf = (db: Db, organizationId: string) =>
  db
    .selectFrom('transport_rules')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .orderBy('priority')
    .orderBy('created_at')
    .orderBy('id')
    .execute()

export const organizationExists = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()

/** Serializes writers of one organization: the limit and the loop check read all of its rules. */
export const lock = (tx: Tx, organizationId: string) =>
  sql`select pg_advisory_xact_lock(
    hashtextextended(${`transport rules ${organizationId}`}, 0))`.execute(tx)

export const countOf = async (tx: Tx, organizationId: string): Promise<number> => {
  const { total } = await tx
    .selectFrom('transport_rules')
    .select(sql<number>`count(*)`.as('total'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return total
}

/** Bytes of the conditions and actions of all rules of an organization. */
export const sizeOf = async (tx: Tx, organizationId: string): Promise<number> => {
  const { bytes } = await tx
    .selectFrom('transport_rules')
    .select(
      sql<number>`coalesce(sum(octet_length(conditions::text) + octet_length(actions::text)), 0)`.as(
        'bytes',
      ),
    )
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

export const insert = (tx: Tx, row: RuleFields & { id: string; organization_id: string }) =>
  tx.insertInto('transport_rules').values(row).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: Partial<RuleFields>, now: Date) =>
  tx
    .updateTable('transport_rules')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('transport_rules').where('id', '=', id).execute()

export const lockMany = (tx: Tx, scope: Scope, ids: string[]) =>
  tx
    .selectFrom('transport_rules')
    .select(columns)
    .where('id', 'in', ids)
    .where(inScope('transport_rules', scope))
    .orderBy('id')
    .forUpdate()
    .execute()

export const aliasesOf = (tx: Tx, organizationId: string, addresses: string[]) =>
  tx
    .selectFrom('aliases')
    .select(['source', 'destinations'])
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where('source', 'in', addresses)
    .execute()

/** Counts of rules that were deleted meanwhile are ignored. */
export const addHits = (tx: Tx, hits: ReadonlyMap<string, number>) =>
  sql`
    update transport_rules set hit_count = hit_count + counted.hits
    from (
      select * from unnest(${[...hits.keys()]}::text[], ${[...hits.values()]}::bigint[])
        as one (id, hits) order by id
    ) counted
    where transport_rules.id = counted.id`.execute(tx)
