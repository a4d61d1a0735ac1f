import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

export interface PolicyFields {
  retention_days: number
  auto_archive: boolean
  archive_after_days: number
}

const columns = [
  'id',
  'organization_id',
  'retention_days',
  'legal_hold',
  'auto_archive',
  'archive_after_days',
  'applies_from',
  sql<PolicyFields | null>`previous`.as('previous'),
  'created_at',
  'updated_at',
] as const

export type PolicyRow = Awaited<ReturnType<typeof upsert>>

export async function list(db: Db, organizationId: string | undefined, page: Page) {
  let query = db.selectFrom('retention_policies')
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
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

export const find = (db: Db, organizationId: string) =>
  db
    .selectFrom('retention_policies')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()

interface NewPolicy extends PolicyFields {
  id: string
  organization_id: string
  applies_from: string
  previous: PolicyFields | null
}

export const upsert = (tx: Tx, row: NewPolicy, at: Date) => {
  const { id: _id, organization_id: _organization, ...fields } = row
  const now = at.toISOString()
  return tx
    .insertInto('retention_policies')
    .values({ ...row, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ ...fields, updated_at: now }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Also deletes the progress of the run, so that a later policy starts anew. */
export async function remove(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('retention_runs').where('organization_id', '=', organizationId).execute()
  await tx.deleteFrom('retention_policies').where('organization_id', '=', organizationId).execute()
}
