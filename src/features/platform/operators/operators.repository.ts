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

export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('operators')
    .select(['id', 'email', 'is_active'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

/** Operators with that address, the active one first. */
export const findByEmail = (db: Db, email: string) =>
  db
    .selectFrom('operators')
    .select(['id', 'email', 'is_active'])
    .where('email', '=', email)
    .orderBy('is_active', 'desc')
    .executeTakeFirst()

interface NewOperator {
  id: string
  email: string
  full_name: string
  password_hash: string
  role: Role
  created_by: string | null
}

/** Returns undefined when an active operator has the e-mail address. */
export const insert = (tx: Tx, operator: NewOperator) =>
  tx
    .insertInto('operators')
    .values(operator)
    // A literal: PostgreSQL finds the partial index by it, which a parameter of a generic plan hides.
    .onConflict((conflict) => conflict.column('email').where(sql<SqlBool>`is_active`).doNothing())
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

/** Locks the rows of all owners, so that two owners cannot demote each other at the same time. */
export const lockOwners = (tx: Tx) =>
  tx
    .selectFrom('operators')
    .select('id')
    .where('role', '=', 'owner')
    .where('is_active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute()
