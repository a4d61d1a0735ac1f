import { sql } from 'kysely'
import {
  damagedMessages,
  hoursWaiting,
  overdueDeletions,
} from '../../../hosting/archive-figures.repository.ts'
import { normalizeIp } from '../../../lib/ip.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { lastDrill } from '../backups/backups.repository.ts'
import type { BlockNeeds } from '../overview/block.ts'

/** A host that has not reported for this time was switched off, and its last figure says nothing. */
const FRESH_MS = 10 * MINUTE_MS

/** The fullest disk of all hosts; null before the first reading. */
export async function fullestDisk({ db, now }: BlockNeeds): Promise<number | null> {
  const since = new Date(now().getTime() - FRESH_MS).toISOString()
  const { percent } = await db
    .selectFrom('host_health')
    .select(sql<number | null>`max(percent)`.as('percent'))
    .where('resource', '=', 'disk')
    .where('checked_at', '>', since)
    .executeTakeFirstOrThrow()
  return percent
}

/**
 * Hours since the last completed backup, of the host where that is longest ago. A host without a
 * completed one counts from its first run, an installation without any run from its first start.
 */
export async function oldestBackup({ db, now }: BlockNeeds): Promise<number | null> {
  const time = now().toISOString()
  const { rows } = await sql<{ hours: number | null }>`
    select round(extract(epoch from ${time}::timestamptz - coalesce(min(latest),
      (select min(applied_at) from schema_migrations))) / 3600, 2)::float8 as hours
    from (
      select coalesce(max(completed_at) filter (where status = 'completed'), min(started_at))
        as latest
      from backup_runs group by hostname
    ) as hosts`.execute(db)
  const hours = rows[0]?.hours ?? null
  return hours === null ? null : Math.max(0, hours)
}

/** Ten years: drills were made and none passed. */
const NEVER_HOURS = 87_600

/** Hours since a restore drill passed; null before the first drill, which not every host makes. */
export async function drillAge({ db, now }: BlockNeeds): Promise<number | null> {
  const drill = await lastDrill(db)
  if (!drill) return null
  if (drill.last_passed_at === null) return NEVER_HOURS
  return Math.max(0, (now().getTime() - Date.parse(drill.last_passed_at)) / HOUR_MS)
}

/**
 * The newest sample, at most one minute old while the monitoring runs. A rule that read the queue
 * itself would list it every few seconds.
 */
export async function deferredMessages({ db, now }: BlockNeeds): Promise<number | null> {
  const since = new Date(now().getTime() - FRESH_MS).toISOString()
  const sample = await db
    .selectFrom('metric_samples')
    .select('value')
    .where('metric', '=', 'mail_queue_deferred')
    .where('minute', '>', since)
    .orderBy('minute', 'desc')
    .limit(1)
    .executeTakeFirst()
  return sample?.value ?? null
}

interface Waiting {
  oldest: number | null
  bytes: number | null
}

/** The newest sample of every queue manager that still runs. */
async function waiting({ db, now }: BlockNeeds): Promise<Waiting> {
  const since = new Date(now().getTime() - FRESH_MS).toISOString()
  const { rows } = await sql<Waiting>`
    select case when count(*) > 0 then
        coalesce(max(oldest_age_seconds) filter (where queue_name = 'deferred'), 0) end as oldest,
      sum(size_bytes)::bigint as bytes
    from queue_samples
    join (select host, max(minute) as minute from queue_samples where minute > ${since} group by host)
      as newest using (host, minute)`.execute(db)
  return rows[0] as Waiting
}

/** 0 without a deferred message, null without a sample. */
export const oldestDeferred = async (needs: BlockNeeds): Promise<number | null> =>
  (await waiting(needs)).oldest

export const queueBytes = async (needs: BlockNeeds): Promise<number | null> =>
  (await waiting(needs)).bytes

/** Listings of the sending IP addresses; null unless addresses and lists are configured. */
export async function blockListings({ config, db }: BlockNeeds): Promise<number | null> {
  const { RBL_ZONES, SENDING_IPS } = config
  if (RBL_ZONES.length === 0 || SENDING_IPS.length === 0) return null
  const own = SENDING_IPS.map(normalizeIp)
  const { total } = await db
    .selectFrom('ip_reputation')
    .select(sql<number>`coalesce(sum(cardinality(listed_zones)), 0)::int`.as('total'))
    .where(sql<boolean>`ip_address = any(${own}::text[])`)
    .executeTakeFirstOrThrow()
  return total
}

/** Hours since the oldest archived message waits for its upload; null without an archive. */
export async function archiveWaiting({ config, db, now }: BlockNeeds): Promise<number | null> {
  if (config.S3_BUCKET === undefined && config.ARCHIVE_FOLDER === undefined) return null
  return hoursWaiting(db, now())
}

/** Also on a host whose archive was turned off: its deletions wait. */
export const archiveDeletions = ({ db, now }: BlockNeeds): Promise<number> =>
  overdueDeletions(db, now())

/** Damaged or missing archived messages; null before the first check of the archive. */
export const archiveDamaged = ({ db }: BlockNeeds): Promise<number | null> => damagedMessages(db)
