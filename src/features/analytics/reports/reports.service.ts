import { randomBytes, randomUUID } from 'node:crypto'
import { type Caller, isPlatform } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { invalidField } from '../../../errors.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { isTimeZone } from '../../../lib/time-zones.ts'
import {
  MissingDomain,
  MissingOrganization,
  NoScheduleFields,
  ReportNotFound,
  ScheduleNotFound,
  TooManyRecipients,
  TooManySchedules,
  UnknownReportType,
} from '../analytics.errors.ts'
import { REPORT_TYPES, type ReportType } from '../analytics.schemas.ts'
import type { AnalyticsService } from '../analytics.service.ts'
import * as reports from './reports.repository.ts'
import type { Interval } from './reports.schemas.ts'
import * as schedules from './schedules.repository.ts'

export const KEPT_MS = 90 * DAY_MS
export const REPORT_SECRET = 'scheduled report secret'
const SECRET_BYTES = 32
export const INTERVAL_MS = { daily: DAY_MS, weekly: 7 * DAY_MS, monthly: 30 * DAY_MS }

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'now' | 'outbound' | 'vault'> {
  analytics: Pick<AnalyticsService, 'findDomain' | 'view'>
}

interface ReportRequest {
  domain?: string
  report_type?: string
  days?: number
  timezone?: string
}

interface ScheduleRequest {
  domain?: string
  report_type?: ReportType
  interval?: Interval
  recipients?: string[]
  organization_id?: string
  timezone?: string
  webhook_url?: string | null
}

type ScheduleChange = Omit<ScheduleRequest, 'domain' | 'organization_id'>

export type ReportService = ReturnType<typeof reportService>

export function reportService({ analytics, change, config, db, now, outbound, vault }: Needs) {
  function check({ timezone, webhook_url: url }: ScheduleRequest): void {
    if (timezone !== undefined && !isTimeZone(timezone)) {
      throw invalidField('timezone', 'Must be a name such as UTC or Europe/Berlin')
    }
    const problem = url == null ? undefined : outbound.problemOf(url)
    if (problem !== undefined) throw invalidField('webhook_url', problem)
  }

  /** A secret belongs to a URL; it is returned to the caller and stored sealed. */
  function newSecret(url: string | null) {
    const secret = url === null ? null : randomBytes(SECRET_BYTES).toString('hex')
    return { secret, webhook_secret: secret === null ? null : vault.seal(REPORT_SECRET, secret) }
  }

  function checkRecipients(count: number): void {
    const limit = config.REPORT_MAX_RECIPIENTS
    if (count > limit) throw new TooManyRecipients(limit)
  }

  return {
    async generate(caller: Caller, sent: ReportRequest) {
      const { domain = '', report_type: type = 'dashboard', days, timezone } = sent
      if (domain.trim() === '') throw new MissingDomain()
      if (!isReportType(type)) throw new UnknownReportType({ sent: type, known: REPORT_TYPES })
      const { organization_id } = await analytics.findDomain(caller, domain)
      const data = await analytics.view(type, caller, domain, {
        ...(days !== undefined && { days }),
        ...(timezone !== undefined && { timezone }),
      })
      const { period_days, generated_at } = data
      const report = {
        report_id: randomUUID(),
        report_type: type,
        domain: data.domain,
        period_days,
        data,
        generated_at,
      }
      await change(caller, (tx) => reports.insert(tx, { ...report, organization_id }))
      return { ...report, status: 'completed' as const }
    },

    async get({ scope }: Caller, id: string) {
      const report = await reports.find(db, scope, id, new Date(now().getTime() - KEPT_MS))
      if (!report) throw new ReportNotFound()
      return {
        ...report,
        report_type: report.report_type as ReportType,
        data: report.data as object,
        status: 'completed' as const,
      }
    },

    async listSchedules(caller: Caller, organizationId: string | undefined) {
      const rows = await schedules.list(db, narrowed(caller.scope, organizationId))
      return { schedules: rows.map(shown), count: rows.length }
    },

    async deleteSchedule(caller: Caller, id: string) {
      const removed = await change(caller, (tx) => schedules.remove(tx, caller.scope, id))
      if (!removed) throw new ScheduleNotFound()
    },

    /** A new webhook URL gets a new secret, which only this response contains. */
    async updateSchedule(caller: Caller, id: string, sent: ScheduleChange) {
      check(sent)
      const { report_type, interval, timezone, webhook_url: url } = sent
      const recipients = sent.recipients && distinct(sent.recipients)
      const fields = {
        ...(report_type !== undefined && { report_type }),
        ...(interval !== undefined && { interval }),
        ...(timezone !== undefined && { timezone }),
        ...(recipients !== undefined && { recipients }),
      }
      if (url === undefined && Object.keys(fields).length === 0) throw new NoScheduleFields()
      return change(caller, async (tx) => {
        const before = await schedules.find(tx, caller.scope, id)
        if (!before) throw new ScheduleNotFound()
        const existing = await schedules.countForUpdate(tx, before.organization_id)
        if (recipients) {
          checkRecipients(existing.recipients - before.recipients.length + recipients.length)
        }
        const isNewUrl = url !== undefined && url !== before.webhook_url
        const { secret, webhook_secret } = newSecret(isNewUrl ? url : null)
        const written = { ...fields, ...(isNewUrl && { webhook_url: url, webhook_secret }) }
        const { [interval ?? (before.interval as Interval)]: length } = INTERVAL_MS
        const latestDue = new Date(now().getTime() + length)
        const updated = await schedules.update(tx, id, written, latestDue)
        if (!updated) throw new ScheduleNotFound()
        return { ...shown(updated), ...(secret !== null && { webhook_secret: secret }) }
      })
    },

    /** The first response that contains the secret. */
    async schedule(caller: Caller, sent: ScheduleRequest) {
      if (sent.domain === undefined || sent.domain.trim() === '') throw new MissingDomain()
      if (isPlatform(caller) && sent.organization_id === undefined) throw new MissingOrganization()
      check(sent)
      const { timezone = 'UTC', webhook_url: url = null } = sent
      const scope = narrowed(caller.scope, sent.organization_id)
      const { organization_id, domain } = await analytics.findDomain({ scope }, sent.domain)
      const recipients = distinct(sent.recipients)
      const { secret, webhook_secret } = newSecret(url)
      return change(caller, async (tx) => {
        const existing = await schedules.countForUpdate(tx, organization_id)
        const { REPORT_MAX_SCHEDULES } = config
        if (existing.schedules >= REPORT_MAX_SCHEDULES) {
          throw new TooManySchedules(REPORT_MAX_SCHEDULES)
        }
        checkRecipients(existing.recipients + recipients.length)
        const created = await schedules.insert(tx, {
          schedule_id: randomUUID(),
          organization_id,
          domain,
          report_type: sent.report_type ?? 'dashboard',
          interval: sent.interval ?? 'weekly',
          recipients,
          timezone,
          webhook_url: url,
          webhook_secret,
          created_at: now().toISOString(),
          due_at: now().toISOString(),
        })
        return { ...shown(created), ...(secret !== null && { webhook_secret: secret }) }
      })
    },
  }
}

const distinct = (recipients: readonly string[] = []) => [
  ...new Set(recipients.map((one) => one.toLowerCase())),
]

const isReportType = (text: string): text is ReportType =>
  (REPORT_TYPES as readonly string[]).includes(text)

/** Null before the first run. */
function shown({ last_error, ...schedule }: schedules.ScheduleRow) {
  return {
    ...schedule,
    report_type: schedule.report_type as ReportType,
    interval: schedule.interval as Interval,
    ...(schedule.last_run_at !== null && { last_error }),
  }
}
