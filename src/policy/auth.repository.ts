import { type SqlBool, sql } from 'kysely'
import { MAIL_SERVICES, type MailService } from '../access/login-services.ts'
import { OPERATOR_BLOCK } from '../access/throttle.repository.ts'
import type { Db, Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

export const IP_BLOCKED = 'ip_blocked'
export const USER_BLOCKED = 'user_blocked'

export interface Failed {
  ip: string
  user: string
  service: MailService
  count: number
  at: Date
}

/** Adds to the run of failures that is under way, or begins one. */
export async function storeFailures(tx: Tx, failed: Failed, windowMs: number): Promise<void> {
  const { ip, user, service, count, at } = failed
  await sql`select pg_advisory_xact_lock(
    hashtextextended(${`mail login ${ip} ${service} ${user}`}, 0))`.execute(tx)
  const continued = await tx
    .updateTable('failed_auth_attempts')
    .set({
      attempt_count: sql`attempt_count + ${count}`,
      last_attempt_at: at.toISOString(),
      // A block that stands keeps its reason.
      failure_reason: sql`case when blocked_until > ${at.toISOString()} then failure_reason
        else 'invalid_credentials' end`,
    })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('failed_auth_attempts')
        .select('id')
        .where('client_ip', '=', ip)
        .where('username', '=', user)
        .where('service', '=', service)
        .where('last_attempt_at', '>', new Date(at.getTime() - windowMs).toISOString())
        .orderBy('last_attempt_at', 'desc')
        .limit(1),
    )
    .returning('id')
    .executeTakeFirst()
  if (continued) return
  await tx
    .insertInto('failed_auth_attempts')
    .values({
      id: ulid(),
      client_ip: ip,
      username: user,
      service,
      failure_reason: 'invalid_credentials',
      attempt_count: count,
      first_attempt_at: at.toISOString(),
      last_attempt_at: at.toISOString(),
    })
    .execute()
}

/** Closes the door to an address, or to one account from it. An operator's block is not touched. */
export const storeBlock = (
  tx: Tx,
  ip: string,
  user: string | undefined,
  until: Date,
  since: Date,
) =>
  tx
    .updateTable('failed_auth_attempts')
    .set({
      blocked_until: until.toISOString(),
      failure_reason: user === undefined ? IP_BLOCKED : USER_BLOCKED,
    })
    .where('client_ip', '=', ip)
    .where('last_attempt_at', '>', since.toISOString())
    .where('service', 'in', [...MAIL_SERVICES])
    .where(sql<SqlBool>`failure_reason is distinct from ${OPERATOR_BLOCK}`)
    .$if(user !== undefined, (query) =>
      query
        .where('username', '=', user as string)
        .where(sql<SqlBool>`failure_reason is distinct from ${IP_BLOCKED}`),
    )
    .execute()

/** Blocks that mail logins obey: by operators, and after failures of mail logins. */
export async function findBlocks(db: Db, now: Date, ip?: string) {
  const rows = await db
    .selectFrom('failed_auth_attempts')
    .select(['client_ip', 'username', 'failure_reason', 'blocked_until'])
    .where('blocked_until', '>', now.toISOString())
    .where('client_ip', '<>', '')
    .where('failure_reason', 'in', [OPERATOR_BLOCK, IP_BLOCKED, USER_BLOCKED])
    .$if(ip !== undefined, (query) => query.where('client_ip', '=', ip as string))
    .execute()
  return rows.map((row) => ({
    ip: row.client_ip,
    user: row.failure_reason === USER_BLOCKED ? (row.username ?? undefined) : undefined,
    until: Date.parse(row.blocked_until as string),
  }))
}

/** Runs of failures that a process before this one has counted. */
export const recentFailures = (db: Db, since: Date) =>
  db
    .selectFrom('failed_auth_attempts')
    .select(['client_ip', 'username', 'attempt_count', 'last_attempt_at'])
    .where('last_attempt_at', '>', since.toISOString())
    .where('service', 'in', [...MAIL_SERVICES])
    .where('client_ip', '<>', '')
    .where('username', 'is not', null)
    // Those that led to a block have had their effect.
    .where('failure_reason', '=', 'invalid_credentials')
    .limit(50_000)
    .execute()
