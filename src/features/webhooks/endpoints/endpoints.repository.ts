import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'

// Without the secret, which is shown only when it is made.
const columns = [
  'id',
  'organization_id',
  'url',
  'name',
  'description',
  'active',
  sql<string[]>`coalesce(event_types, '[]')`.as('event_types'),
  'created_at',
  'updated_at',
] as const

const inside = (db: Db, scope: Scope) =>
  db.selectFrom('webhook_endpoints').where(inScope('webhook_endpoints', scope))

export async function list(db: Db, scope: Scope, { perPage, offset }: Page) {
  const items = await inside(db, scope)
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await inside(db, scope)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string) =>
  inside(db, scope).select(columns).where('id', '=', id).executeTakeFirst()

/** Locks the organization against deletion until the endpoint is stored. */
export const holdOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()

/** Serializes inserts of one organization, so that the limit holds. */
export async function countForUpdate(tx: Tx, organizationId: string): Promise<number> {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .execute()
  const { count } = await tx
    .selectFrom('webhook_endpoints')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return count
}

interface Fields {
  url?: string
  name?: string
  description?: string
  active?: boolean
  event_types?: string[] | null
  secret?: Buffer
  previous_secret?: null
  previous_secret_until?: null
}

interface NewRow extends Fields {
  id: string
  organization_id: string | null
  url: string
  secret: Buffer
}

export const insert = (tx: Tx, row: NewRow, now: Date) =>
  tx
    .insertInto('webhook_endpoints')
    .values({ ...row, created_at: now.toISOString(), updated_at: now.toISOString() })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, scope: Scope, id: string, fields: Fields, now: Date) =>
  tx
    .updateTable('webhook_endpoints')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .where(inScope('webhook_endpoints', scope))
    .returning('id')
    .executeTakeFirst()

export const rotateSecret = (
  tx: Tx,
  scope: Scope,
  id: string,
  secret: Buffer,
  previousUntil: Date,
  now: Date,
) =>
  tx
    .updateTable('webhook_endpoints')
    .set({
      secret,
      previous_secret: sql`secret`,
      previous_secret_until: previousUntil.toISOString(),
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .where(inScope('webhook_endpoints', scope))
    .returning('id')
    .executeTakeFirst()

export const remove = (tx: Tx, scope: Scope, id: string) =>
  tx
    .deleteFrom('webhook_endpoints')
    .where('id', '=', id)
    .where(inScope('webhook_endpoints', scope))
    .returning('id')
    .executeTakeFirst()
