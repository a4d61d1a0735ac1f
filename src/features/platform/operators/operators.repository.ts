import { type SqlBool, sql } from 'kysely'
import type { Role } from '../../../access/caller.ts'
import { liveAt } from '../../../access/sessions.repository.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'

const select = (db: Db, now: Date) =>
  db
    .selectFrom('operators')
    .leftJoin('operators as creator', 'creator.id', 'operators.created_by')
    .select((eb) => [
      'operators.id',
      'operators.email',
      'operators.full_name',
      'operators.role',
      'operators.is_active',
      sql.lit(true).as('mfa_required'),
      'operators.last_login_at',
      'operators.created_by',
      'creator.email as created_by_email',
      'operators.created_at',
      sql<boolean>`exists (
        select from totp_enrollments t
        where t.kind = 'operator' and t.subject_id = operators.id and t.confirmed_at is not null
      )`.as('mfa_enrolled'),
      eb
        .selectFrom('sessions')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('sessions.operator_id', '=', 'operators.id')
        .where(liveAt(now))
        .$asScalar()
        .$notNull()
        .as('active_session_count'),
    ])

export interface OperatorFilter {
  q?: string
  role?: Role
  is_active?: boolean
}

const matching = ({ q, role, is_active }: OperatorFilter) =>
  sql<SqlBool>`
    (${q ?? null}::text is null or ${contains(['operators.email', 'operators.full_name'], q ?? '')})
    and (${role ?? null}::text is null or operators.role = ${role ?? null})
    and (${is_active ?? null}::boolean is null or operators.is_active = ${is_active ?? null})`

export async function list(db: Db, filter: OperatorFilter, { perPage, offset }: Page, now: Date) {
  const items = await select(db, now)
    .where(matching(filter))
    .orderBy('operators.created_at', 'desc')
    .orderBy('operators.id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await db
    .selectFrom('operators')
    .select(sql<number>`count(*)`.as('total'))
    .where(matching(filter))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: string, now: Date) =>
  select(db, now).where('operators.id', '=', id).executeTakeFirst()

export const exists = (db: Db, id: string) =>
  db.selectFrom('operators').select('id').where('id', '=', id).executeTakeFirst()

interface NewOperator {
  id: string
  email: string
  full_name: string
  password_hash: string
  role: Role
  created_by: string | null
}

/** Undefined when the address is taken. */
export const insert = (tx: Tx, operator: NewOperator) =>
  tx
    .insertInto('operators')
    .values(operator)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst()

export const update = (
  tx: Tx,
  id: string,
  fields: { full_name?: string; role?: Role; is_active?: boolean },
  now: Date,
) =>
  tx
    .updateTable('operators')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()

/** Holds all owners' rows, so that two of them cannot unseat each other at the same time. */
export const lockOwners = (tx: Tx) =>
  tx
    .selectFrom('operators')
    .select('id')
    .where('role', '=', 'owner')
    .where('is_active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute()
