import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { nameOf } from '../../../database/paging.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'
import {
  type DIRECTIONS,
  type PolicyAction,
  type PolicyType,
  SEVERITIES,
  type Severity,
} from './vocabulary.ts'

type Direction = (typeof DIRECTIONS)[number]

const columns = [
  'id',
  'organization_id',
  nameOf('organizations', 'dlp_policies.organization_id').as('organization_name'),
  'name',
  'description',
  'policy_type',
  sql<string[]>`patterns`.as('patterns'),
  'action',
  'severity',
  'enabled',
  'apply_to',
  'created_at',
  'updated_at',
] as const

export type PolicyRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface PolicyFilter {
  organization_id?: string
  policy_type?: PolicyType
  severity?: Severity
  apply_to?: Direction
  enabled?: boolean
  q?: string
}

const EXACT = ['organization_id', 'policy_type', 'severity', 'apply_to', 'enabled'] as const

export type PolicySort = Sort<'created_at' | 'updated_at' | 'name' | 'severity'>

/** Sorts from low to critical instead of alphabetically. */
export const bySeverity = (column: string) =>
  sql`array_position(${[...SEVERITIES]}::text[], ${sql.ref(column)})`

export async function list(
  db: Db,
  { q, ...exact }: PolicyFilter,
  { by, direction }: PolicySort,
  { perPage, offset }: Page,
) {
  let query = db.selectFrom('dlp_policies')
  for (const column of EXACT) {
    const value = exact[column]
    if (value !== undefined) query = query.where(column, '=', value as never)
  }
  if (q) query = query.where(contains(['name', 'description'], q))
  const items = await query
    .select(columns)
    .orderBy(by === 'severity' ? bySeverity('severity') : sql.ref(by), direction)
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: number) =>
  db.selectFrom('dlp_policies').select(columns).where('id', '=', id).executeTakeFirst()

export const lock = (tx: Tx, id: number) =>
  tx
    .selectFrom('dlp_policies')
    .select(['id', 'organization_id', 'policy_type', sql<string[]>`patterns`.as('patterns')])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const enabledOf = (db: Db, organizationId: string) =>
  db
    .selectFrom('dlp_policies')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute()

export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()

export interface PolicyFields {
  name: string
  description: string | null
  policy_type: PolicyType
  patterns: string[]
  action: PolicyAction
  severity: Severity
  enabled: boolean
  apply_to: Direction
}

export const insert = (tx: Tx, row: PolicyFields & { organization_id: string }) =>
  tx.insertInto('dlp_policies').values(row).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: number, fields: Partial<PolicyFields>, now: Date) =>
  tx
    .updateTable('dlp_policies')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: number) =>
  tx.deleteFrom('dlp_policies').where('id', '=', id).execute()

/** The recipients of violation notices. */
export const administratorsOf = async (db: Db, organizationId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('dashboard_users')
    .select('email')
    .where('organization_id', '=', organizationId)
    .where('is_active', '=', true)
    .where('role', '<>', 'read_only')
    .where('password_hash', 'is not', null)
    .orderBy('email')
    .limit(50)
    .execute()
  return rows.map(({ email }) => email)
}
