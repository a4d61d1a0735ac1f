import { insertFeedback } from '../../../src/hosting/feedback.repository.ts'
import { ulid } from '../../../src/lib/ulid.ts'
import type { App } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'

const DAY_MS = 86_400_000

/** Scores of two weeks, IP addresses, complaints and a warm-up. */
export async function seedReputation(
  app: App,
  tenant: Awaited<ReturnType<App['tenant']>>,
): Promise<Record<string, string>> {
  const { db } = app.core
  const now = app.clock.now()
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const day = (ago: number) => new Date(midnight - ago * DAY_MS).toISOString()
  await db
    .insertInto('domain_reputation')
    .values(
      Array.from({ length: 14 }, (_, ago) => ({
        id: ulid(),
        domain_id: tenant.domainId,
        organization_id: tenant.organizationId,
        domain: tenant.domain,
        period_type: 'DAILY' as const,
        period_start: day(ago + 1),
        period_end: day(ago),
        overall_score: 82 - ago,
        deliverability_score: 91 - ago / 2,
        engagement_score: 64,
        emails_sent: 1200 + ago * 7,
        emails_delivered: 1180,
        emails_bounced: 14,
        emails_complained: 2,
        emails_opened: 431,
        trend: ago === 0 ? 1 : null,
        is_newest: ago === 0,
      })),
    )
    .execute()
  const address = (ip_address: string, reputation_score: number, more: object) => ({
    id: ulid(),
    ip_address,
    reputation_score,
    total_connections: 812,
    total_messages: 640,
    first_seen: day(40),
    last_seen: now.toISOString(),
    updated_at: now.toISOString(),
    ...more,
  })
  await db
    .insertInto('ip_reputation')
    .values([
      address('203.0.113.9', 31, { spam_count: 212, listed_zones: ['bl.far.test'] }),
      address('2001:db8::25', 96, { auth_failure_count: 3 }),
    ])
    .execute()
  await db.transaction().execute(async (tx) => {
    const report = {
      organization_id: tenant.organizationId,
      original_recipient: 'grace@isp.test',
      complaint_recipient: null,
      isp_name: 'isp.test',
      feedback_type: 'abuse',
      email_id: 'news-1@acme.test',
      subject: HOSTILE[0] as string,
      sender: 'news@acme.test',
      sender_domain: tenant.domain,
      digest: null,
      processed: true,
      suppression_added: true,
    }
    await insertFeedback(tx, report, new Date(now.getTime() - DAY_MS))
    const open = { original_recipient: '', processed: false, suppression_added: false }
    await insertFeedback(tx, { ...report, ...open, sender: HOSTILE[1] as string }, now)
  })
  const owner = await app.operator('owner')
  const answer = await owner.post('/api/v1/reputation/warm-ups', {
    ip_address: '203.0.113.20',
    organization_id: tenant.organizationId,
    target_daily_volume: 5000,
    warmup_days: 30,
    reason: 'A new sending address',
  })
  if (answer.status >= 300) throw new Error(answer.text)
  return { domain: tenant.domain }
}
