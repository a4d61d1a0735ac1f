import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { percent } from '../../lib/percent.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import type { ReportType } from './analytics.schemas.ts'
import * as engagements from './engagement.repository.ts'
import * as traffic from './traffic.repository.ts'
import { daysOf, type Window, type WindowQuery, windowOf } from './window.ts'

type Needs = Pick<Core, 'db' | 'now'>

export type AnalyticsService = ReturnType<typeof analyticsService>

export function analyticsService({ db, now }: Needs) {
  async function findDomain({ scope }: Pick<Caller, 'scope'>, sent: string) {
    const found = await traffic.findDomain(db, scope, toDomainName(sent) ?? '')
    if (!found) throw new DomainNotFound()
    return found
  }

  async function countsOf(domain: traffic.AnalyzedDomain, window: Window) {
    const [mail, people] = await Promise.all([
      traffic.sums(db, domain, window),
      engagements.engagement(db, domain, window),
    ])
    return {
      total_sent: mail.sent,
      delivered: mail.delivered,
      bounced: mail.bounced,
      failed: mail.rejected + mail.deferred,
      attempts: mail.attempts,
      ...people,
    }
  }

  /** The reports of a domain by kind. */
  const views = {
    dashboard: countsOf,

    'email-volume': async (domain: traffic.AnalyzedDomain, window: Window) => ({
      volume: await traffic.volume(db, domain, window, daysOf(window)),
    }),

    async engagement(domain: traffic.AnalyzedDomain, window: Window) {
      const [{ delivered }, { opened, clicked }, unique] = await Promise.all([
        traffic.sums(db, domain, window),
        engagements.engagement(db, domain, window),
        engagements.uniques(db, domain, window),
      ])
      return {
        delivered,
        opens: opened,
        clicks: clicked,
        unique_opens: unique.opened,
        unique_clicks: unique.clicked,
        open_rate: percent(unique.opened, delivered),
        click_rate: percent(unique.clicked, delivered),
        click_to_open_rate: percent(clicked, opened),
        reply_rate: null,
        average_read_time_seconds: null,
      }
    },

    async deliverability(domain: traffic.AnalyzedDomain, window: Window) {
      const [mail, { complained }] = await Promise.all([
        traffic.sums(db, domain, window),
        engagements.engagement(db, domain, window),
      ])
      return {
        total_sent: mail.sent,
        bounced: mail.bounced,
        bounce_rate: percent(mail.bounced, mail.sent),
        complaints: complained,
        complaint_rate: mail.sent === 0 ? 0 : rounded((complained / mail.sent) * 100, 4),
        average_spam_score:
          mail.spam_scores === 0 ? 0 : rounded(mail.spam_score_sum / mail.spam_scores, 2),
        dkim_configured: domain.dkim_enabled && domain.has_dkim_key,
        dkim_selector: domain.dkim_selector,
        spf_pass_rate: null,
        dmarc_pass_rate: null,
        inbox_placement_estimate: null,
      }
    },

    metrics: async (domain: traffic.AnalyzedDomain, window: Window) => ({
      ...(await countsOf(domain, window)),
      storage_used_bytes: domain.total_storage_used,
      storage_quota_bytes: domain.max_quota,
      active_email_accounts: domain.active_email_accounts,
      max_email_accounts: domain.max_users,
      lifetime_emails: domain.total_emails,
      lifetime_attachments: domain.total_attachments,
    }),
  } satisfies Record<ReportType, unknown>

  type Views = typeof views

  return {
    findDomain,

    /** One report of a domain in the scope of the caller. */
    async view<Kind extends ReportType>(
      kind: Kind,
      caller: Pick<Caller, 'scope'>,
      name: string,
      query: WindowQuery,
    ) {
      const window = windowOf(query, now())
      const domain = await findDomain(caller, name)
      const figures = (await views[kind](domain, window)) as Awaited<ReturnType<Views[Kind]>>
      return {
        domain: domain.domain,
        period_days: window.days,
        ...figures,
        generated_at: now().toISOString(),
      }
    },

    async health() {
      await traffic.probe(db).catch(() => {
        throw new ServiceUnavailable('Analytics service unavailable')
      })
      return { status: 'healthy' as const, service: 'analytics' as const }
    },
  }
}

const rounded = (value: number, decimals: number): number =>
  Math.round(value * 10 ** decimals) / 10 ** decimals
