import { sql } from 'kysely'
import { type QueueFigures, queueFigures } from '../../../mail/queue-figures.ts'
import { type ServiceSummary, serviceSummary } from '../../monitoring/service-summary.ts'
import { ago, type Block, type BlockNeeds, lastHours } from './block.ts'
import { domains, mailboxes, organizations, storage } from './tenants.ts'
import { volume } from './volume.ts'

const services: Block<ServiceSummary> = serviceSummary

const queue: Block<QueueFigures> = queueFigures

interface Certificates {
  total: number
  expiring_30d: number
  expiring_7d: number
  soonest_expiry_days: number | null
}

/** Only certificates that are active and still valid can be about to expire. */
const certificates: Block<Certificates> = async ({ db, now }) => {
  const time = sql`${now().toISOString()}::timestamptz`
  const inUse = sql`status = 'active' and valid_until > ${time}`
  const within = (days: number) =>
    sql<number>`count(*) filter (where ${inUse} and valid_until <= ${time} + make_interval(days => ${days}))`
  return db
    .selectFrom('certificates')
    .select([
      sql<number>`count(*)`.as('total'),
      within(30).as('expiring_30d'),
      within(7).as('expiring_7d'),
      sql<number | null>`round(extract(epoch from
        min(valid_until) filter (where ${inUse}) - ${time}) / 86400, 2)::float8`.as(
        'soonest_expiry_days',
      ),
    ])
    .executeTakeFirstOrThrow()
}

/** Messages in quarantine without a decision. */
const quarantine: Block<{ pending: number }> = async ({ db }, organization) => {
  let held = db.selectFrom('quarantine').where('status', '=', 'quarantined')
  if (organization !== null) held = held.where('organization_id', '=', organization)
  return held.select(sql<number>`count(*)`.as('pending')).executeTakeFirstOrThrow()
}

const webhooks: Block<{ dead_letters: number }> = async ({ db }, organization) => {
  let open = db.selectFrom('webhook_dead_letters').where('status', '<>', 'resolved')
  if (organization !== null) open = open.where('organization_id', '=', organization)
  return open.select(sql<number>`count(*)`.as('dead_letters')).executeTakeFirstOrThrow()
}

const migrations: Block<{ failed: number }> = ({ db }) =>
  db
    .selectFrom('migration_jobs')
    .select(sql<number>`count(*)`.as('failed'))
    .where('status', '=', 'failed')
    .executeTakeFirstOrThrow()

interface Security {
  failed_auth_24h: number
  denied_actions_24h: number
  failed_auth_series: { hour: string; count: number }[]
}

const security: Block<Security> = async ({ db, now }) => {
  const time = now()
  const since = ago(time, 24)
  const hours = lastHours(time)
  // A row is a counter, so attempts are summed up. Each login is counted by IP address and by account;
  // only the counts by IP address are used here.
  const { rows } = await sql<{ hour: string; count: number }>`
    select date_trunc('hour', last_attempt_at, 'UTC') as hour, sum(attempt_count)::int as count
    from failed_auth_attempts
    where last_attempt_at > ${since} and client_ip <> ''
    group by 1`.execute(db)
  const { denied_actions_24h } = await db
    .selectFrom('operator_audit')
    .select(sql<number>`count(*)`.as('denied_actions_24h'))
    .where('created_at', '>', since)
    // Written like the predicate of the partial index.
    .where(sql<boolean>`status_code in (401, 403)`)
    .executeTakeFirstOrThrow()
  const counts = new Map(rows.map(({ hour, count }) => [hour, count]))
  return {
    failed_auth_24h: rows.reduce((sum, { count }) => sum + count, 0),
    denied_actions_24h,
    failed_auth_series: hours.map((hour) => ({ hour, count: counts.get(hour) ?? 0 })),
  }
}

const RECENT_ACTIONS = 10

const recentActions = async ({ db }: BlockNeeds) =>
  db
    .selectFrom('operator_audit')
    .select(['id', 'operator_email', 'action', 'target_type', 'target_id', 'result', 'created_at'])
    .orderBy('id', 'desc')
    .limit(RECENT_ACTIONS)
    .execute()

/** In the order of the page; `degraded` lists these names. */
export const blocks = {
  services,
  queue,
  organizations,
  domains,
  mailboxes,
  storage,
  certificates,
  quarantine,
  webhooks,
  migrations,
  security,
  volume_24h: volume,
  recent_actions: recentActions,
} as const

export type Blocks = typeof blocks
export type BlockName = keyof Blocks
export type BlockValue<Name extends BlockName> = Awaited<ReturnType<Blocks[Name]>>
