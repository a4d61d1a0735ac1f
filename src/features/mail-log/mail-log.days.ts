import { type SqlBool, sql } from 'kysely'
import type { Core } from '../../core.ts'
import { type DayTable, dropDays, indexPastDays, makeDays } from '../../database/days.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import { dropPastDays } from './past-days/expire-days.ts'

export const mailLog: DayTable = { name: 'mail_log', time: 'timestamp' }

export const makeLogDays = ({ db, now }: Pick<Core, 'db' | 'now'>) => makeDays(db, mailLog, now())

/** Makes the days to come, drops those that are too old, and indexes the subjects of those that are over. */
export const keepLogDays: Job = {
  name: 'mail-log.days',
  everySeconds: HOUR_SECONDS,
  async run(core: Core) {
    const { config, db, now } = core
    await makeLogDays(core)
    if (config.MAIL_LOG_RETENTION_DAYS > 0) await dropOld(core)
    await indexPastDays(db, mailLog, 'subject', now())
    if (config.MAIL_LOG_RETENTION_DAYS > 0) await dropPastDays(core, oldest(core))
  },
}

const oldest = ({ config, now }: Core) =>
  new Date(now().getTime() - config.MAIL_LOG_RETENTION_DAYS * DAY_MS)

async function dropOld(core: Core): Promise<void> {
  const { db, log, now } = core
  const expired = await dropDays(db, mailLog, { before: oldest(core), isKept: isKept(now()) })
  if (expired.days > 0 || expired.deleted > 0) log.info(expired, 'old days of the mail log dropped')
}

/**
 * Rows under a legal hold, and those of an organization whose retention policy keeps them for longer. The
 * stricter policies delete their rows themselves.
 */
const isKept = (now: Date) => sql<SqlBool>`(
  exists (
    select from legal_holds hold
    where hold.organization_id = mail_log.organization_id and hold.active
      and (hold.end_date is null or hold.end_date > ${now.toISOString()}::timestamptz)
      and (hold.custodians = '{}' or lower(mail_log.sender) = any(hold.custodians)
        or lower(mail_log.recipient) = any(hold.custodians)
        or lower(mail_log.original_recipient) = any(hold.custodians)))
  or exists (
    select from retention_policies policy
    where policy.organization_id = mail_log.organization_id
      and (policy.legal_hold or mail_log."timestamp" >= ${now.toISOString()}::timestamptz
        - make_interval(days => greatest(policy.retention_days,
          case when policy.applies_from > ${now.toISOString()}::timestamptz
            then coalesce((policy.previous ->> 'retention_days')::integer, 36500) end)))))`
