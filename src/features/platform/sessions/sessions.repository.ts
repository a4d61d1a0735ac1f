import { sql } from 'kysely'
import { liveAt } from '../../../access/sessions.repository.ts'
import type { Db } from '../../../database/database.ts'

const select = (db: Db, now: Date) =>
  db
    .selectFrom('sessions')
    .select([
      'sessions.id',
      'sessions.ip_address',
      'sessions.user_agent',
      'sessions.mfa_satisfied',
      'sessions.created_at',
      'sessions.expires_at',
      'sessions.absolute_expiry',
      'sessions.revoked_at',
      liveAt(now).$castTo<boolean>().as('is_active'),
    ])
    .where('sessions.kind', '=', 'operator')
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id', 'desc')

export const listOf = (db: Db, operatorId: string, now: Date) =>
  select(db, now).where('sessions.operator_id', '=', operatorId).execute()

export const listLive = (db: Db, currentId: string, now: Date) =>
  select(db, now)
    .innerJoin('operators', 'operators.id', 'sessions.operator_id')
    .select([
      'operators.id as operator_id',
      'operators.email as operator_email',
      'operators.role as operator_role',
      sql<boolean>`sessions.id = ${currentId}`.as('is_current'),
    ])
    .where(liveAt(now))
    .execute()

export const findLive = (db: Db, id: string, now: Date) =>
  select(db, now).where('sessions.id', '=', id).where(liveAt(now)).executeTakeFirst()

export const listOwn = (db: Db, operatorId: string, currentId: string, now: Date) =>
  select(db, now)
    .select(sql<boolean>`sessions.id = ${currentId}`.as('is_current'))
    .where('sessions.operator_id', '=', operatorId)
    .where(liveAt(now))
    .execute()
