import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'

const columns = [
  'id',
  'organization_id',
  'name',
  'description',
  'custodians',
  'start_date',
  'end_date',
  'active',
  'created_by',
  'created_at',
] as const

export interface HoldFilter {
  organization_id?: string
  active?: boolean
  q?: string
}

export async function list(db: Db, { organization_id, active, q }: HoldFilter, page: Page) {
  let query = db.selectFrom('legal_holds')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (active !== undefined) query = query.where('active', '=', active)
  if (q) query = query.where(contains(['name', 'description'], q))
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** The holds that cover an address now; the function is_held answers the same with yes or no. */
export const covering = (db: Db, organizationId: string, email: string, now: Date) =>
  db
    .selectFrom('legal_holds')
    .select(['id', 'name', 'organization_id', 'end_date'])
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where(sql<SqlBool>`(end_date is null or end_date > ${now.toISOString()}::timestamptz)`)
    .where(sql<SqlBool>`(custodians = '{}' or ${email} = any (custodians))`)
    .orderBy('id')
    .execute()

export interface NewHold {
  organization_id: string
  name: string
  description: string | null
  custodians: string[]
  reason: string
  start_date: string
  end_date: string | null
  created_by: string
  created_at: string
}

export const insert = (tx: Tx, hold: NewHold) =>
  tx.insertInto('legal_holds').values(hold).returning(columns).executeTakeFirstOrThrow()

export const lock = (tx: Tx, id: number) =>
  tx.selectFrom('legal_holds').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()

export const release = (tx: Tx, id: number, by: string, reason: string, at: Date) =>
  tx
    .updateTable('legal_holds')
    .set({
      active: false,
      released_by: by,
      released_at: at.toISOString(),
      release_reason: reason,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
