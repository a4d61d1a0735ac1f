import { type SqlBool, sql } from 'kysely'
import { OPERATOR_BLOCK } from '../../../access/throttle.repository.ts'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

export interface ThrottleFilter {
  kind?: 'ip' | 'account' | 'account_from_ip'
  service?: string
  client_ip?: string
  username?: string
}

/** Throttles and blocks are of an IP address, of an account, or of an account from an IP address. */
export type Target = { client_ip: string } | { username: string }

// A block by an operator, or after failures of a whole address, covers every account from there.
const kind = sql<'ip' | 'account' | 'account_from_ip'>`case
  when client_ip = '' then 'account'
  when username is null or failure_reason in (${OPERATOR_BLOCK}, 'ip_blocked') then 'ip'
  else 'account_from_ip' end`

const inForce = (now: Date) => sql<SqlBool>`blocked_until > ${now.toISOString()}::timestamptz`

const matching = (db: Db, filter: ThrottleFilter, now: Date) =>
  db
    .selectFrom('failed_auth_attempts')
    .where(inForce(now))
    .$if(filter.kind !== undefined, (query) =>
      query.where(sql<SqlBool>`${kind} = ${filter.kind as string}`),
    )
    .$if(filter.service !== undefined, (query) =>
      query.where('service', '=', filter.service as string),
    )
    .$if(filter.client_ip !== undefined, (query) =>
      query.where('client_ip', '=', filter.client_ip as string),
    )
    .$if(filter.username !== undefined, (query) =>
      query.where('username', '=', filter.username as string),
    )

export async function list(db: Db, filter: ThrottleFilter, page: Page, now: Date) {
  const items = await matching(db, filter, now)
    .select([
      'id',
      kind.as('kind'),
      sql<string | null>`nullif(client_ip, '')`.as('client_ip'),
      'username',
      'service',
      sql<'failures' | 'operator'>`case when failure_reason = ${OPERATOR_BLOCK} then 'operator'
        else 'failures' end`.as('origin'),
      'attempt_count',
      sql<string>`blocked_until`.as('blocked_until'),
      'last_attempt_at',
    ])
    .orderBy('blocked_until', 'desc')
    .orderBy('id')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await matching(db, filter, now)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items, total: Number(total) }
}

/**
 * Ends what is in force and forgets the failures that the throttle counts. Lifting an account lifts
 * it from every IP address; blocks of whole IP addresses stay.
 */
export async function lift(tx: Tx, target: Target, now: Date): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('failed_auth_attempts')
    .set({
      blocked_until: null,
      failure_reason: 'lifted',
      recent_failures: sql`'{}'::timestamptz[]`,
    })
    .where(inForce(now))
    .$if('client_ip' in target, (query) =>
      query.where('client_ip', '=', (target as { client_ip: string }).client_ip),
    )
    .$if('username' in target, (query) =>
      query
        .where('username', '=', (target as { username: string }).username)
        .where(sql<SqlBool>`${kind} <> 'ip'`),
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
