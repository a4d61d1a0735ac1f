import { domainToUnicode } from 'node:url'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { percent } from '../../../lib/percent.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { isTimeZone, localDate, startOfDay } from '../../../lib/time-zones.ts'
import type { OrganizationService } from '../organizations.service.ts'
import * as overview from './overview.repository.ts'
import type { KINDS } from './overview.schemas.ts'

/** Postfix returns a message to its sender after this time. */
const QUEUE_DAYS = 5
const EXPIRING_DAYS = 14
const FULL_PERCENT = 95

interface Needs extends Pick<Core, 'db' | 'now'> {
  organizations: Pick<OrganizationService, 'get'>
}

interface Notice {
  kind: (typeof KINDS)[number]
  id: string
  name: string
  used_percent: number | null
  failed_deliveries: number | null
  expires_at: string | null
}

export type OverviewService = ReturnType<typeof overviewService>

export const overviewService = ({ db, now, organizations }: Needs) => ({
  async get(caller: Caller, id: string, query: { days: number; timezone?: string }) {
    const { timezone = 'UTC' } = query
    if (!isTimeZone(timezone)) {
      throw new Unprocessable('timezone must be a name such as UTC or Europe/Berlin')
    }
    const organization = await organizations.get(caller, id)
    const time = now()
    const dates = lastDates(localDate(time, timezone), query.days)
    const [counted, deferred_now, suspended_mailboxes, attention] = await Promise.all([
      overview.traffic(
        db,
        id,
        dates.map((date) => startOfDay(date, timezone)),
      ),
      overview.deferredSince(db, id, new Date(time.getTime() - QUEUE_DAYS * DAY_MS)),
      overview.suspendedMailboxes(db, id),
      noticesOf(db, organization, time),
    ])
    const days = dates.map((date, nth) => ({ date, ...(counted.get(nth) ?? NOTHING) }))
    return {
      organization_id: id,
      timezone,
      days,
      totals: sumOf([...counted.values()]),
      deferred_now: Math.max(0, deferred_now),
      domains: organization.domain_count,
      mailboxes: organization.email_account_count,
      suspended_mailboxes,
      storage: {
        used_bytes: organization.total_storage_used,
        quota_bytes: organization.storage_quota,
      },
      attention,
      generated_at: time.toISOString(),
    }
  },
})

const NOTHING: overview.Counts = {
  sent: 0,
  delivered: 0,
  bounced: 0,
  deferred: 0,
  rejected: 0,
  received: 0,
}

/** The calendar days up to and including the last one. */
function lastDates(last: string, days: number): string[] {
  const end = new Date(last).getTime()
  return Array.from({ length: days }, (_, nth) =>
    new Date(end - (days - 1 - nth) * DAY_MS).toISOString().slice(0, 10),
  )
}

function sumOf(days: overview.Counts[]): overview.Counts {
  const sum = { ...NOTHING }
  for (const day of days) {
    for (const name of Object.keys(NOTHING) as (keyof overview.Counts)[]) sum[name] += day[name]
  }
  return sum
}

const noticeOf = (
  kind: Notice['kind'],
  { id, name }: { id: string; name: string },
  more: Partial<Notice> = {},
): Notice => ({
  kind,
  id,
  name,
  used_percent: null,
  failed_deliveries: null,
  expires_at: null,
  ...more,
})

interface Stored {
  id: string
  name: string
  total_storage_used: number
  storage_quota: number
}

/** The most urgent first: what stops mail, then what will stop it soon. */
async function noticesOf(db: Needs['db'], organization: Stored, time: Date): Promise<Notice[]> {
  const { id, total_storage_used: used, storage_quota: quota } = organization
  const soon = new Date(time.getTime() + EXPIRING_DAYS * DAY_MS)
  const [domains, mailboxes, endpoints, credentials, keys] = await Promise.all([
    overview.unfinishedDomains(db, id),
    overview.fullMailboxes(db, id),
    overview.failingEndpoints(db, id, new Date(time.getTime() - DAY_MS)),
    overview.expiringCredentials(db, id, soon),
    overview.expiringKeys(db, id, { from: time, to: soon }),
  ])
  const used_percent = percent(used, quota)
  return [
    ...domains.map(({ proven, ...row }) =>
      noticeOf(proven ? 'domain_unverified' : 'domain_unproven', {
        ...row,
        name: domainToUnicode(row.name),
      }),
    ),
    ...(used_percent >= FULL_PERCENT
      ? [noticeOf('storage_full', organization, { used_percent })]
      : []),
    ...mailboxes.map((row) =>
      noticeOf('mailbox_full', row, {
        used_percent: percent(row.storage_used, row.storage_quota),
      }),
    ),
    ...endpoints.map((row) =>
      noticeOf('webhook_failing', row, { failed_deliveries: row.failures }),
    ),
    ...credentials.map((row) =>
      noticeOf('credential_expiring', row, { expires_at: row.expires_at }),
    ),
    ...keys.map((row) => noticeOf('api_key_expiring', row, { expires_at: row.expires_at })),
  ]
}
