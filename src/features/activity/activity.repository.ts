import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { Scope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import { IS_ACTIVITY } from '../../events/activity.ts'
import type { Page } from '../../http/paging.ts'

export interface ActivityFilter {
  kind?: 'event' | 'operator'
  action?: string
  q?: string
  from?: Date
  to?: Date
}

interface ActivityRow {
  id: string
  kind: 'event' | 'operator'
  action: string
  subject: string | null
  created_at: string
}

/**
 * Operations that change nothing, or that are confidential: a person must not learn of a legal hold
 * here. verify_dns is repeated by open pages.
 */
export const LEFT_OUT =
  '^(check|get|list|metrics|platform|preview|show|tail|trace)_|_(check|dns|facets|me|status|summary)$|consent|data_export|erasure|kept_mail|legal_hold'

/** The condition of the partial index operator_audit_activity, as a literal like IS_ACTIVITY. */
const IS_CHANGE = sql.raw(
  `caller_scope = 'platform' and result = 'success' and status_code <> 202
    and action !~ '${LEFT_OUT}'`,
)

/** Fields of event data that name what the event is about; the first one that is present. */
const SUBJECTS = [
  'member_email',
  'email',
  'user_email',
  'source',
  'target_email',
  'mailbox',
  'domain',
  'name',
  'identifier',
  'user',
  'sender',
  'url',
  'ip_address',
]

/** Tables with a name for the id of an audited target. */
const NAMES: Record<string, [table: string, column: string]> = {
  account_id: ['email_accounts', 'email'],
  credential_id: ['smtp_credentials', 'username'],
  domain_id: ['domains', 'domain'],
  endpoint_id: ['webhook_endpoints', 'url'],
  mailbox_id: ['shared_mailboxes', 'email'],
  rule_id: ['transport_rules', 'name'],
  user_id: ['dashboard_users', 'email'],
}

/** An id says nothing to a person. */
const BARE_ID = '^([0-9A-Z]{26}|[0-9]+)$'

const nameOfTarget = sql.join(
  Object.entries(NAMES).map(
    ([type, [table, column]]) => sql`when target_type = ${type} then (
      select ${sql.ref(column)} from ${sql.table(table)}
      where id = target_id and organization_id = operator_audit.organization_id)`,
  ),
  sql` `,
)

const events = sql`
  select 'event' as kind, id, sequence as place, org_id as owner, event as action,
    coalesce(${sql.join(SUBJECTS.map((name) => sql`data ->> ${name}`))}) as subject, created_at
  from events where ${IS_ACTIVITY}`

const changes = sql`
  select 'operator' as kind, id::text, id as place, organization_id as owner, action,
    case ${nameOfTarget} when target_id !~ ${BARE_ID} then target_id end as subject, created_at
  from operator_audit where organization_id is not null and ${IS_CHANGE}`

const SOURCES = { event: events, operator: changes }

function conditions(scope: Scope, { action, q, from, to }: ActivityFilter): RawBuilder<unknown> {
  const all = [sql`true`]
  if (scope !== 'platform') all.push(sql`owner = ${scope.organization}`)
  if (action?.endsWith('.*')) all.push(sql`starts_with(action, ${action.slice(0, -1)})`)
  else if (action !== undefined) all.push(sql`action = ${action}`)
  if (q) all.push(contains(['action', 'subject'], q))
  if (from) all.push(sql`created_at >= ${from.toISOString()}::timestamptz`)
  if (to) all.push(sql`created_at <= ${to.toISOString()}::timestamptz`)
  return sql.join(all, sql` and `)
}

/** Reads a page of each source, and merges the two. */
export async function list(
  db: Db,
  scope: Scope,
  filter: ActivityFilter,
  { perPage, offset }: Page,
): Promise<{ rows: ActivityRow[]; total: number }> {
  const where = conditions(scope, filter)
  const chosen = filter.kind ? [SOURCES[filter.kind]] : Object.values(SOURCES)
  const last = Math.min(offset + perPage, Number.MAX_SAFE_INTEGER)
  const pages = chosen.map(
    (source) => sql`(select * from (${source}) as source where ${where}
      order by created_at desc, place desc limit ${last})`,
  )
  const { rows } = await sql<ActivityRow>`
    select id, kind, action, subject, created_at
    from (${sql.join(pages, sql` union all `)}) as merged
    order by created_at desc, kind, place desc limit ${perPage} offset ${offset}`.execute(db)
  const counts = chosen.map(
    (source) => sql`(select count(*) from (${source}) as source where ${where})`,
  )
  const counted = await sql<{ total: number }>`
    select (${sql.join(counts, sql` + `)}) as total`.execute(db)
  return { rows, total: counted.rows[0]?.total ?? 0 }
}
