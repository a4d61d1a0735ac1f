import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { SessionKind } from './caller.ts'

const OWNER_COLUMNS = {
  dashboard: 'user_id',
  operator: 'operator_id',
  mailbox: 'email_account_id',
} as const satisfies Record<SessionKind, string>

interface NewSession {
  id: string
  kind: SessionKind
  subjectId: string
  tokenHash: string
  csrfHash: string
  ip: string
  userAgent: string | null
  clientPlatform: string | null
  mfaSatisfied: boolean
  idleSeconds: number
  expiresAt: Date
  absoluteExpiry: Date
  createdAt: Date
}

export const insertSession = (db: Db, session: NewSession) =>
  db
    .insertInto('sessions')
    .values({
      id: session.id,
      kind: session.kind,
      [OWNER_COLUMNS[session.kind]]: session.subjectId,
      token_hash: session.tokenHash,
      csrf_hash: session.csrfHash,
      ip_address: session.ip,
      user_agent: session.userAgent?.slice(0, 500) ?? null,
      client_platform: session.clientPlatform,
      mfa_satisfied: session.mfaSatisfied,
      idle_timeout_seconds: session.idleSeconds,
      expires_at: session.expiresAt.toISOString(),
      absolute_expiry: session.absoluteExpiry.toISOString(),
      created_at: session.createdAt.toISOString(),
    })
    .execute()

/** Gives a partial session new tokens and its full rights; false when it is not partial any more. */
export const promoteSession = async (
  db: Db,
  id: string,
  tokenHash: string,
  csrfHash: string,
  expiresAt: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({
      token_hash: tokenHash,
      csrf_hash: csrfHash,
      mfa_satisfied: true,
      expires_at: sql`least(${expiresAt.toISOString()}::timestamptz, absolute_expiry)`,
    })
    .where('id', '=', id)
    .where('mfa_satisfied', '=', false)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export const revokeSession = async (db: Db, id: string, now: Date): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ revoked_at: now.toISOString() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Ends every live session of a person except one; returns their number. */
export const revokeSessionsOf = async (
  db: Db,
  kind: SessionKind,
  subjectId: string,
  now: Date,
  keepId = '',
): Promise<number> => {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ revoked_at: now.toISOString() })
    .where(OWNER_COLUMNS[kind], '=', subjectId)
    .where('id', '<>', keepId)
    .where(liveAt(now))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Not revoked, before the sliding and before the absolute expiry. */
export const liveAt = (now: Date) => {
  const time = now.toISOString()
  return sql<SqlBool>`sessions.revoked_at is null
    and sessions.expires_at > ${time}::timestamptz and sessions.absolute_expiry > ${time}::timestamptz`
}

/** Deletes sessions that ended before the history that owners see. */
export const deleteSessionsBefore = async (db: Db, before: Date): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('absolute_expiry', '<', before.toISOString())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
