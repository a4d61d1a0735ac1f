import { insertFeedback } from '../../src/hosting/feedback.repository.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

export const HOSTILE = `<script>alert('%_\\"')</script>`

const day = (ago: number) => new Date(Date.UTC(2026, 5, 20) - ago * DAY_MS)

/** Stores scores of domains and IP addresses, and feedback reports, of two tenants. */
export async function storeReputation({ core: { db } }: App, acme: Tenant, globex: Tenant) {
  const scored = (tenant: Tenant, ago: number, score: number, more: object = {}) => ({
    id: ulid(),
    domain_id: tenant.domainId,
    organization_id: tenant.organizationId,
    domain: tenant.domain,
    period_type: 'DAILY' as const,
    period_start: day(ago).toISOString(),
    period_end: day(ago - 1).toISOString(),
    overall_score: score,
    is_newest: ago === 0,
    ...more,
  })
  await db
    .insertInto('domain_reputation')
    .values([
      scored(acme, 1, 95, { emails_sent: 10 }),
      scored(acme, 0, 80.5, { emails_sent: 20, trend: -14.5 }),
      scored(globex, 0, 99, { emails_sent: 5 }),
      scored(acme, 0, 60, { period_type: 'WEEKLY' }),
    ])
    .execute()
  const seen = day(0).toISOString()
  const blocks: [string, number, object][] = [
    ['203.0.113.9', 12.345, {}],
    ['203.0.113.10', 70, { listed_zones: ['bl.test'] }],
    ['2001:db8::9', 50, { block_reason: 'operator', block_until: '2126-01-01T00:00:00Z' }],
    ['198.51.100.1', 99, { block_reason: 'operator', block_until: '2026-01-01T00:00:00Z' }],
  ]
  await db
    .insertInto('ip_reputation')
    .values(
      blocks.map(([ip_address, reputation_score, more]) => ({
        id: ulid(),
        ip_address,
        reputation_score,
        first_seen: seen,
        last_seen: seen,
        updated_at: seen,
        ...more,
      })),
    )
    .execute()
  await db.transaction().execute(async (tx) => {
    const report = {
      organization_id: acme.organizationId,
      original_recipient: 'ada@far.test',
      complaint_recipient: null,
      isp_name: 'ISP.test',
      feedback_type: 'abuse',
      email_id: '1@acme.test',
      subject: HOSTILE,
      sender: 'news@acme.test',
      sender_domain: 'acme.test',
      digest: null,
      processed: true,
      suppression_added: true,
    }
    await insertFeedback(tx, report, new Date('2026-06-01T10:00:00Z'))
    const other = { ...report, isp_name: 'far.test', feedback_type: 'fraud', processed: false }
    await insertFeedback(tx, { ...other, sender: HOSTILE }, new Date('2026-06-02T10:00:00Z'))
    await insertFeedback(
      tx,
      {
        ...other,
        organization_id: globex.organizationId,
        sender: 'a@globex.test',
        sender_domain: 'globex.test',
      },
      new Date('2026-06-03T23:30:00Z'),
    )
  })
}
