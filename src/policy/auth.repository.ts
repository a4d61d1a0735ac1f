import { type SqlBool, sql } from 'kysely'
import { MAIL_ACCOUNT, MAIL_SERVICES, type MailService } from '../access/login-services.ts'
import { OPERATOR_BLOCK } from '../access/throttle.repository.ts'
import type { Db, Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

const IP_BLOCKED = 'ip_blocked'
const USER_BLOCKED = 'user_blocked'
const ACCOUNT_BLOCKED = 'account_blocked'

export interface Failed {
  ip: string
  user: string
  service: MailService
  count: number
  at: Date
}

/** Adds to the current run of failures, or starts a new one. */
export async function storeFailures(tx: Tx, failed: Failed, windowMs: number): Promise<void> {
  const { ip, user, service, count, at } = failed
  await sql`select pg_advisory_xact_lock(
    hashtextextended(${`mail login ${ip} ${service} ${user}`}, 0))`.execute(tx)
  const continued = await tx
    .updateTable('failed_auth_attempts')
    .set({
      attempt_count: sql`attempt_count + ${count}`,
      last_attempt_at: at.toISOString(),
      // An active block keeps its reason.
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

/** Blocks an IP address, or one account from it. Blocks by operators stay unchanged. */
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

/** Blocks an account for every IP address that it has not logged in from. */
export const storeAccountBlock = (
  tx: Tx,
  blocked: { user: string; failures: number; until: Date; at: Date },
) =>
  tx
    .insertInto('failed_auth_attempts')
    .values({
      id: ulid(),
      client_ip: '',
      username: blocked.user,
      service: MAIL_ACCOUNT,
      failure_reason: ACCOUNT_BLOCKED,
      attempt_count: blocked.failures,
      first_attempt_at: blocked.at.toISOString(),
      last_attempt_at: blocked.at.toISOString(),
      blocked_until: blocked.until.toISOString(),
    })
    .execute()

/** The end of the block of an account over all IP addresses, under the empty login. */
export async function findAccountBlock(db: Db, now: Date, user: string) {
  const row = await db
    .selectFrom('failed_auth_attempts')
    .select((eb) => eb.fn.max('blocked_until').as('until'))
    .where('blocked_until', '>', now.toISOString())
    .where('service', '=', MAIL_ACCOUNT)
    .where('username', '=', user)
    .executeTakeFirst()
  return new Map(row?.until ? [['', Date.parse(row.until)]] : [])
}

/**
 * The ends of the blocks of an IP address that apply to mail logins, by login: by operators, and after
 * failed mail logins. The empty login stands for all of them.
 */
export async function findBlocks(db: Db, now: Date, ip: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('failed_auth_attempts')
    .select([
      sql<string>`case when failure_reason = ${USER_BLOCKED} then coalesce(username, '')
        else '' end`.as('login'),
      (eb) => eb.fn.max('blocked_until').as('until'),
    ])
    .where('blocked_until', '>', now.toISOString())
    .where('client_ip', '=', ip)
    .where('failure_reason', 'in', [OPERATOR_BLOCK, IP_BLOCKED, USER_BLOCKED])
    .groupBy('login')
    .execute()
  return new Map(rows.map(({ login, until }) => [login, Date.parse(until as string)]))
}

/** Runs of failures that an earlier process counted. */
export const recentFailures = (db: Db, since: Date) =>
  db
    .selectFrom('failed_auth_attempts')
    .select(['client_ip', 'username', 'attempt_count', 'last_attempt_at'])
    .where('last_attempt_at', '>', since.toISOString())
    .where('service', 'in', [...MAIL_SERVICES])
    .where('client_ip', '<>', '')
    .where('username', 'is not', null)
    // Failures that led to a block do not count again.
    .where('failure_reason', '=', 'invalid_credentials')
    .limit(50_000)
    .execute()

/**
 * Notes logins of mailboxes, at most once a minute each. Rows that another transaction holds are left for
 * the next login.
 */
export const noteLogins = (tx: Tx, logins: ReadonlyMap<string, Date>) =>
  sql`
    with used as (
      select m.id, u.at from unnest(
        ${[...logins.keys()]}::text[],
        ${[...logins.values()].map((at) => at.toISOString())}::timestamptz[]) as u (email, at)
      -- Of several prepared mailboxes with this address, only the hosted one can log in.
      join edge.mailboxes e on e.email = u.email
      join email_accounts m on m.id = e.id
      where m.last_login is null or m.last_login < u.at - interval '1 minute'
      for no key update of m skip locked)
    update email_accounts set last_login = used.at,
      last_activity = greatest(email_accounts.last_activity, used.at)
    from used where email_accounts.id = used.id`.execute(tx)
