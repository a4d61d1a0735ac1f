import { randomBytes, randomUUID } from 'node:crypto'
import { type Caller, isPlatform } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { invalidField } from '../../../errors.ts'
import { isTimeZone } from '../../../lib/time-zones.ts'
import {
  MissingDomain,
  MissingOrganization,
  ReportNotFound,
  TooManySchedules,
  UnknownReportType,
} from '../analytics.errors.ts'
import { REPORT_TYPES, type ReportType } from '../analytics.schemas.ts'
import type { AnalyticsService } from '../analytics.service.ts'
import * as reports from './reports.repository.ts'
import type { Interval } from './reports.schemas.ts'
import * as schedules from './schedules.repository.ts'

export const KEPT_MS = 90 * 24 * 60 * 60 * 1000
export const REPORT_SECRET = 'scheduled report secret'
const MOST_SCHEDULES = 100
const SECRET_BYTES = 32

interface Needs extends Pick<Core, 'change' | 'db' | 'now' | 'outbound' | 'vault'> {
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

export type ReportService = ReturnType<typeof reportService>

export function reportService({ analytics, change, db, now, outbound, vault }: Needs) {
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

    /** The only answer that holds the secret. */
    async schedule(caller: Caller, sent: ScheduleRequest) {
      if (sent.domain === undefined || sent.domain.trim() === '') throw new MissingDomain()
      if (isPlatform(caller) && sent.organization_id === undefined) throw new MissingOrganization()
      const timezone = sent.timezone ?? 'UTC'
      if (!isTimeZone(timezone)) {
        throw invalidField('timezone', 'Must be a name such as UTC or Europe/Berlin')
      }
      const url = sent.webhook_url ?? null
      const problem = url === null ? undefined : outbound.problemOf(url)
      if (problem !== undefined) throw invalidField('webhook_url', problem)
      const scope = narrowed(caller.scope, sent.organization_id)
      const { organization_id, domain } = await analytics.findDomain({ scope }, sent.domain)
      const secret = url === null ? null : randomBytes(SECRET_BYTES).toString('hex')
      return change(caller, async (tx) => {
        if ((await schedules.countForUpdate(tx, organization_id)) >= MOST_SCHEDULES) {
          throw new TooManySchedules(MOST_SCHEDULES)
        }
        const created = await schedules.insert(tx, {
          schedule_id: randomUUID(),
          organization_id,
          domain,
          report_type: sent.report_type ?? 'dashboard',
          interval: sent.interval ?? 'weekly',
          recipients: [...new Set(sent.recipients?.map((one) => one.toLowerCase()))],
          timezone,
          webhook_url: url,
          webhook_secret: secret === null ? null : vault.seal(REPORT_SECRET, secret),
          created_at: now().toISOString(),
          due_at: now().toISOString(),
        })
        return { ...shown(created), ...(secret !== null && { webhook_secret: secret }) }
      })
    },
  }
}

const isReportType = (text: string): text is ReportType =>
  (REPORT_TYPES as readonly string[]).includes(text)

/** Whether a run failed can be said once there was one. */
function shown({ last_error, ...schedule }: schedules.ScheduleRow) {
  return {
    ...schedule,
    report_type: schedule.report_type as ReportType,
    interval: schedule.interval as Interval,
    ...(schedule.last_run_at !== null && { last_error }),
  }
}
