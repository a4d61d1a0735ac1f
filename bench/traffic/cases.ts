import { DAY_MS } from '../../src/lib/time.ts'
import { BUSIEST } from './seed.ts'

export interface Case {
  name: string
  caller: 'tenant' | 'operator'
  path: string
  body?: object
  /** SQL that computes the same figures from the mail log. */
  raw?: string
  /** Set when the aim differs from the aim of analytics. */
  aimMs?: number
  /** A pause before each request, so that not only cached responses are measured. */
  pauseMs?: number
}

const tenant = '/api/v1/analytics'
const platform = '/api/v1/platform/analytics'
const { organization, domain } = BUSIEST

const ofDomain = (days: number) => `
  from mail_log where organization_id = '${organization}'
    and split_part(sender, '@', 2) = '${domain}'
    and "timestamp" >= now() - interval '${days} days'`
const statuses = (days: number) => `
  select count(*), count(*) filter (where status = 'delivered'),
    count(*) filter (where status = 'bounced'),
    count(*) filter (where status in ('rejected', 'deferred')), avg(spam_score) ${ofDomain(days)}`
const volume = (days: number, zone: string) => `
  select ("timestamp" at time zone '${zone}')::date,
    count(*) filter (where split_part(sender, '@', 2) = '${domain}'),
    count(*) filter (where split_part(recipient, '@', 2) = '${domain}')
  from mail_log
  where (split_part(sender, '@', 2) = '${domain}' or split_part(recipient, '@', 2) = '${domain}')
    and "timestamp" >= now() - interval '${days} days' group by 1`

/**
 * Every route of analytics, for the busiest tenant and over all tenants, and the routes of the
 * console.
 */
export const casesOf = (days: number): Case[] => [
  ...[30, days].map(
    (period): Case => ({
      name: `dashboard, ${period} days`,
      caller: 'tenant',
      path: `${tenant}/dashboard/${domain}?days=${period}`,
      raw: statuses(period),
    }),
  ),
  {
    name: `email-volume, ${days} days`,
    caller: 'tenant',
    path: `${tenant}/email-volume/${domain}?days=${days}`,
    raw: volume(days, 'UTC'),
  },
  {
    name: `email-volume, ${days} days of Kathmandu`,
    caller: 'tenant',
    path: `${tenant}/email-volume/${domain}?days=${days}&timezone=Asia/Kathmandu`,
    raw: volume(days, 'Asia/Kathmandu'),
  },
  {
    name: 'engagement',
    caller: 'tenant',
    path: `${tenant}/engagement/${domain}?days=${days}`,
  },
  {
    name: 'deliverability',
    caller: 'tenant',
    path: `${tenant}/deliverability/${domain}?days=${days}`,
    raw: statuses(days),
  },
  {
    name: 'metrics',
    caller: 'tenant',
    path: `${tenant}/metrics/${domain}?days=${days}`,
    raw: statuses(days),
  },
  { name: 'health', caller: 'tenant', path: `${tenant}/health` },
  { name: 'reports/scheduled', caller: 'tenant', path: `${tenant}/reports/scheduled` },
  {
    name: 'reports/generate',
    caller: 'tenant',
    path: `${tenant}/reports/generate`,
    body: { domain, report_type: 'metrics' },
    raw: statuses(30),
  },
  ...['hour', 'day', 'month'].map(
    (granularity): Case => ({
      name: `platform overview by ${granularity}`,
      caller: 'operator',
      path: `${platform}/overview?days=${days}&granularity=${granularity}`,
      raw: `
      select date_trunc('${granularity}', "timestamp"), domains.domain, count(*),
        count(*) filter (where status = 'delivered'), count(*) filter (where status = 'bounced')
      from mail_log join domains on domains.domain = split_part(sender, '@', 2)
      where "timestamp" >= now() - interval '${days} days' group by 1, 2`,
    }),
  ),
  {
    name: 'platform heatmap',
    caller: 'operator',
    path: `${platform}/heatmap?days=${days}`,
    raw: `
      select extract(isodow from "timestamp"), extract(hour from "timestamp"), count(*)
      from mail_log join domains on domains.domain = split_part(sender, '@', 2)
      where "timestamp" >= now() - interval '${days} days' group by 1, 2`,
  },
  { name: 'platform growth', caller: 'operator', path: `${platform}/growth?days=730` },
  {
    name: 'overview of the console',
    caller: 'operator',
    path: '/api/v1/platform/overview',
    aimMs: 150,
    pauseMs: 1600,
  },
  ...[
    'sender=a7@d0.example',
    'recipient=y77@elsewhere.test',
    'message_id=5000.seed@mail.example',
    `start_date=${new Date(Date.now() - (days / 2) * DAY_MS).toISOString()}&end_date=${new Date(Date.now() - (days / 2 - 1) * DAY_MS).toISOString()}`,
    'sender=nobody@nowhere.example',
  ].map(
    (query): Case => ({
      name: `trace by ${query.split('=')[0]}`,
      caller: 'operator',
      path: `/api/v1/message-trace/trace?${query}`,
      aimMs: 300,
    }),
  ),
]
