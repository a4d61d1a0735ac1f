import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { Slice } from '../../http/paging.ts'

export interface TrailFilter {
  event_type?: string
  event_source?: string
  organization_id?: string
  user_email?: string
  client_ip?: string
  severity?: 'info' | 'warning' | 'critical'
  from?: Date
  to?: Date
}

export interface TrailRow {
  id: string
  event_type: string
  event_source: string
  organization_id: string | null
  user_email: string | null
  client_ip: string | null
  severity: 'info' | 'warning' | 'critical'
  details: object | null
  created_at: string
}

// The audit trail has two sources: actions of operators, and failed logins.
const operators = sql`
  select 'audit-' || id as id, action as event_type,
    case when operator_id is null then 'api' else 'console' end as event_source,
    organization_id, operator_email as user_email, ip_address as client_ip,
    case when status_code >= 500 then 'critical' when result = 'failure' then 'warning' else 'info' end
      as severity,
    jsonb_build_object('target_type', target_type, 'target_id', target_id,
      'status_code', status_code, 'correlation_id', correlation_id, 'request_body', request_body)
      as details,
    created_at, target_type, target_id
  from operator_audit`
const failures = sql`
  select id, 'auth.login.failure' as event_type, service as event_source,
    null as organization_id, username as user_email, nullif(client_ip, '') as client_ip,
    case when blocked_until is null then 'warning' else 'critical' end as severity,
    jsonb_build_object('failure_reason', failure_reason, 'attempt_count', attempt_count,
      'blocked_until', blocked_until) as details,
    last_attempt_at as created_at
  from failed_auth_attempts`

const columns = sql.raw(
  'id, event_type, event_source, organization_id, user_email, client_ip, severity, details, created_at',
)

const EXACT = [
  'event_type',
  'event_source',
  'organization_id',
  'user_email',
  'client_ip',
  'severity',
] as const

function conditions(filter: TrailFilter): RawBuilder<SqlBool> {
  const tests = EXACT.flatMap((column) =>
    filter[column] === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${filter[column]}`],
  )
  if (filter.from) tests.push(sql`created_at >= ${filter.from.toISOString()}::timestamptz`)
  if (filter.to) tests.push(sql`created_at <= ${filter.to.toISOString()}::timestamptz`)
  return tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`
}

/** The newest rows of both sources; each is limited to the rows that are needed. */
function newest(filter: TrailFilter, needed: number): RawBuilder<unknown> {
  const where = conditions(filter)
  const from = (source: RawBuilder<unknown>, name: string) => sql`
    (select ${columns} from (${source}) as ${sql.ref(name)}
     where ${where} order by created_at desc limit ${needed})`
  return sql`${from(operators, 'operators')} union all ${from(failures, 'failures')}`
}

/** Newest first. */
export async function list(db: Db, filter: TrailFilter, { limit, offset }: Slice) {
  const needed = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const { rows } = await sql<TrailRow>`
    select * from (${newest(filter, needed)}) as trail
    order by created_at desc, id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Stops at `most`. */
export async function count(db: Db, filter: TrailFilter, most: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select least(count(*), ${most}) as total from (${newest(filter, most)}) as trail`.execute(db)
  return rows[0]?.total ?? 0
}

/** Actions of operators on quarantined messages, oldest first. */
export async function ofQuarantined(db: Db, ids: string[]): Promise<TrailRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<TrailRow>`
    select ${columns} from (${operators}) as operators
    where target_type = 'quarantine_id' and target_id = any(${ids}::text[])
    order by created_at, id`.execute(db)
  return rows
}
