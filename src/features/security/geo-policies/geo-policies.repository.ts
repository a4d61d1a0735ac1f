import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { inOrder, nameOf, pageAndTotal, withIds } from '../../../database/paging.ts'
import type { Page } from '../../../http/paging.ts'

export type GeoAction = 'block' | 'challenge' | 'log_only'

export interface TimeRestrictions {
  allowed_hours: { start: number; end: number }
  timezone_offset: number
  applies_to_countries: string[]
}

export interface GeoPolicyFilter {
  organization_id?: string
  action?: GeoAction
  enabled?: boolean
}

export interface GeoPolicyFields {
  allowed_countries?: string[]
  blocked_countries?: string[]
  time_restrictions?: TimeRestrictions | null
  action?: GeoAction
  enabled?: boolean
}

const columns = [
  'geo_policies.id',
  'geo_policies.organization_id',
  nameOf('organizations', 'geo_policies.organization_id').as('organization_name'),
  sql<string[]>`geo_policies.allowed_countries`.as('allowed_countries'),
  sql<string[]>`geo_policies.blocked_countries`.as('blocked_countries'),
  sql<TimeRestrictions | null>`geo_policies.time_restrictions`.as('time_restrictions'),
  sql<GeoAction>`geo_policies.action`.as('action'),
  'geo_policies.enabled',
  'geo_policies.created_at',
  'geo_policies.updated_at',
] as const

export async function list(db: Db, filter: GeoPolicyFilter, page: Page) {
  let query = db.selectFrom('geo_policies')
  const { organization_id, action, enabled } = filter
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (action !== undefined) query = query.where('action', '=', action)
  if (enabled !== undefined) query = query.where('enabled', '=', enabled)
  const newestFirst = { by: 'created_at', direction: 'desc' } as const
  const { ids, total } = await pageAndTotal(db, query, 'geo_policies', newestFirst, page)
  const rows = await db
    .selectFrom('geo_policies')
    .select(columns)
    .where(withIds('geo_policies', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

export const lock = (tx: Tx, id: string) =>
  tx.selectFrom('geo_policies').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()

export const insert = (
  tx: Tx,
  policy: GeoPolicyFields & { id: string; organization_id: string },
  now: Date,
) =>
  tx
    .insertInto('geo_policies')
    .values({ ...policy, created_at: now.toISOString(), updated_at: now.toISOString() })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: GeoPolicyFields, now: Date) =>
  tx
    .updateTable('geo_policies')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx
    .deleteFrom('geo_policies')
    .where('id', '=', id)
    .returning(['id', 'organization_id'])
    .executeTakeFirst()
