import { randomUUID } from 'node:crypto'
import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import { periodically } from '../../../lib/periodically.ts'
import { ulid } from '../../../lib/ulid.ts'
import { poster } from '../../../outbound/post.ts'
import { standardSignature } from '../../webhooks/delivery/signature.ts'
import { type AnalyticsService, analyticsService } from '../analytics.service.ts'
import * as reports from './reports.repository.ts'
import { REPORT_SECRET } from './reports.service.ts'
import * as schedules from './schedules.repository.ts'

const LEASE_SECONDS = 30
const RENEW_MS = 10_000
const PERIOD_DAYS = 7
const MAX_ERROR = 300
const DAY_MS = 24 * 60 * 60 * 1000
const INTERVAL_MS = { daily: DAY_MS, weekly: 7 * DAY_MS, monthly: 30 * DAY_MS }

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'mailer' | 'now' | 'outbound' | 'vault'>

/**
 * Sends the reports that are due. A process takes one by its row and says every few seconds that it is
 * still at it; one that was killed says so no more, and another does it again.
 */
export function scheduleRunner(core: Needs) {
  const { config, db, log, now } = core
  const owner = ulid()
  const analytics = analyticsService(core)
  const http = poster({ timeoutSeconds: config.WEBHOOK_TIMEOUT, guard: core.outbound })
  let stopping = false

  async function run(schedule: schedules.Claimed): Promise<void> {
    const renewing = periodically(
      RENEW_MS,
      async () => void (await schedules.renew(db, schedule.schedule_id, owner, LEASE_SECONDS)),
      (error) => log.warn({ err: error }, 'a claim on a report could not be renewed'),
    )
    const outcome = await attempt(core, analytics, http, schedule).finally(() => renewing.stop())
    const at = now()
    const { error, report } = outcome
    const isOurs = await db.transaction().execute(async (tx) => {
      const dueAt = nextDue(schedule, at)
      const finished = await schedules.finish(tx, schedule, owner, { now: at, dueAt, error })
      if (finished && report) await reports.insert(tx, report)
      return finished
    })
    const { schedule_id, organization_id } = schedule
    const about = { schedule_id, organization_id }
    if (!isOurs) log.warn(about, 'another process has taken over a report')
    else if (error !== null) log.warn({ ...about, reason: error }, 'a report was not delivered')
  }

  return {
    /** All that are due; answers how many this process has run. */
    async runDue(): Promise<number> {
      let runs = 0
      while (!stopping) {
        const schedule = await schedules.claim(db, owner, now(), LEASE_SECONDS)
        if (!schedule) break
        await run(schedule)
        runs++
      }
      return runs
    },
    /** Begins no more; what is under way is still to be waited for. */
    stop(): void {
      stopping = true
    },
    close: () => http.close(),
  }
}

/** Not the runs that were missed while nobody ran: one stands for all of them. */
function nextDue({ due_at, interval }: schedules.Claimed, now: Date): Date {
  const length = INTERVAL_MS[interval]
  const next = new Date(due_at).getTime() + length
  return new Date(next > now.getTime() ? next : now.getTime() + length)
}

interface Outcome {
  error: string | null
  report?: reports.NewReport
}

async function attempt(
  core: Needs,
  analytics: AnalyticsService,
  http: ReturnType<typeof poster>,
  schedule: schedules.Claimed,
): Promise<Outcome> {
  const { organization_id, report_type, timezone, recipients, webhook_url } = schedule
  if (recipients.length === 0 && webhook_url === null) return { error: 'no recipients configured' }
  try {
    const scope = { organization: organization_id }
    const query = { days: PERIOD_DAYS, timezone }
    const data = await analytics.view(report_type, { scope }, schedule.domain, query)
    const { domain, period_days, generated_at } = data
    const report = {
      report_id: randomUUID(),
      organization_id,
      domain,
      report_type,
      period_days,
      data,
      generated_at,
    }
    const failures = [
      recipients.length > 0 && (await mailed(core, recipients, report)),
      webhook_url !== null && (await posted(core, http, schedule, webhook_url, report)),
    ].filter((failure) => typeof failure === 'string')
    return { error: failures.length === 0 ? null : short(failures.join('; ')), report }
  } catch (error) {
    // What the API would say of it may be told; anything else is for the log.
    if (!(error instanceof ApiError)) core.log.error({ err: error }, 'a report failed')
    return { error: short(error instanceof ApiError ? error.message : 'internal error') }
  }
}

const short = (text: string): string => text.slice(0, MAX_ERROR)

/** What went wrong, or nothing. */
async function mailed(
  { mailer }: Needs,
  to: string[],
  report: reports.NewReport,
): Promise<string | undefined> {
  const { report_id, report_type, domain, period_days, data } = report
  try {
    await mailer.send({
      to,
      subject: `Report ${report_type} of ${domain}`,
      text: `Report: ${report_type}
Domain: ${domain}
Period: the last ${period_days} days
Report id: ${report_id}

${JSON.stringify(data, undefined, 2)}
`,
    })
    return undefined
  } catch (error) {
    return `mail: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Signed as Standard Webhooks has it. A run that is repeated has the id that it had before. */
async function posted(
  { now, vault }: Needs,
  http: ReturnType<typeof poster>,
  { schedule_id, due_at, webhook_secret }: schedules.Claimed,
  url: string,
  report: reports.NewReport,
): Promise<string | undefined> {
  const id = `${schedule_id}.${new Date(due_at).getTime()}`
  const timestamp = String(Math.floor(now().getTime() / 1000))
  const body = JSON.stringify({ schedule_id, ...report })
  const secrets = webhook_secret === null ? [] : [vault.open(REPORT_SECRET, webhook_secret)]
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(secrets, `${id}.${timestamp}.${body}`),
  }
  const { error } = await http.post(url, headers, body)
  return error === null ? undefined : `webhook: ${error}`
}
