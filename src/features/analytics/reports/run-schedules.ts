import { randomUUID } from 'node:crypto'
import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import { brandOf, signatureOf } from '../../../hosting/brand.repository.ts'
import { readSender } from '../../../hosting/senders.ts'
import { type Lease, newLease, underLease } from '../../../jobs/lease.ts'
import { poster } from '../../../outbound/post.ts'
import { recounter } from '../../rate-limiter/recount.ts'
import { standardSignature } from '../../webhooks/delivery/signature.ts'
import { type AnalyticsService, analyticsService } from '../analytics.service.ts'
import * as reports from './reports.repository.ts'
import { INTERVAL_MS, REPORT_SECRET } from './reports.service.ts'
import * as schedules from './schedules.repository.ts'

const LEASE_SECONDS = 30
/** A report covers the time since the one before. */
const PERIOD_DAYS = { daily: 1, weekly: 7, monthly: 30 }
const MAX_ERROR = 300

type Needs = Pick<
  Core,
  | 'config'
  | 'db'
  | 'events'
  | 'internalToken'
  | 'log'
  | 'mailer'
  | 'now'
  | 'outbound'
  | 'redis'
  | 'vault'
>

/** Sends the reports that are due. After a crash another process sends the report again. */
export function scheduleRunner(core: Needs) {
  const { config, db, log, now } = core
  const analytics = analyticsService(core)
  const http = poster({ timeoutSeconds: config.WEBHOOK_TIMEOUT, guard: core.outbound })
  let stopping = false

  async function run(schedule: schedules.Claimed, lease: Lease): Promise<void> {
    const { schedule_id, organization_id } = schedule
    const outcome = await underLease(core, 'analytics_schedules', { schedule_id }, lease, () =>
      attempt(core, analytics, http, schedule),
    )
    const at = now()
    const { error, report } = outcome
    const isHeld = await db.transaction().execute(async (tx) => {
      const dueAt = nextDue(schedule, at)
      const finished = await schedules.finish(tx, schedule, lease, { now: at, dueAt, error })
      if (finished && report) await reports.insert(tx, report)
      return finished
    })
    const about = { schedule_id, organization_id }
    if (!isHeld) log.warn(about, 'report lease lost to another process')
    else if (error !== null) log.warn({ ...about, reason: error }, 'report not delivered')
  }

  return {
    /** Runs due schedules, except of organizations that another call serves; returns their number. */
    async runDue(): Promise<number> {
      let runs = 0
      while (!stopping) {
        const lease = newLease(LEASE_SECONDS)
        const schedule = await schedules.claim(db, lease, now())
        if (!schedule) break
        await run(schedule, lease)
        runs++
      }
      return runs
    },
    /** Starts no further run; runs in progress go on. */
    stop(): void {
      stopping = true
    },
    close: () => http.close(),
  }
}

/** Runs that were missed while no process ran are replaced by one. */
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
    const query = { days: PERIOD_DAYS[schedule.interval], timezone }
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
    // API errors are shown to the tenant; other errors go to the log.
    if (!(error instanceof ApiError)) core.log.error({ err: error }, 'report failed')
    return { error: short(error instanceof ApiError ? error.message : 'internal error') }
  }
}

const short = (text: string): string => text.slice(0, MAX_ERROR)

/** Returns the error, or undefined. */
async function mailed(
  core: Needs,
  to: string[],
  report: reports.NewReport,
): Promise<string | undefined> {
  const { report_id, report_type, domain, period_days, data } = report
  try {
    const find = (name: string) => readSender(core.db, name, 'outbound')
    // No mailbox sends a report: it counts for the domain and its organization.
    const refusal = await recounter(core, { find })(`@${domain}`, to.length, { messages: 1 })
    if (refusal !== undefined) return `mail: ${refusal}`
    const brand = await brandOf(core.db, report.organization_id)
    await core.mailer.send({
      to,
      fromName: brand.brand_name,
      subject: `Report ${report_type} of ${domain}`,
      text: `Report: ${report_type}
Domain: ${domain}
Period: the last ${period_days} days
Report id: ${report_id}

${JSON.stringify(data, undefined, 2)}
${signatureOf(brand).join('\n')}
`,
    })
    return undefined
  } catch (error) {
    return `mail: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Signed as in Standard Webhooks. A repeated run has the same id. */
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
