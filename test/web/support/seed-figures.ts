import type { Insertable } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { App } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const GIB = 1024 ** 3

/** Mail of the last weeks, what needs attention, and reports. */
export async function seedFigures(app: App, tenant: Tenant): Promise<Record<string, string>> {
  await seedMail(app, tenant)
  await seedAttention(app, tenant)
  return seedReports(tenant)
}

const SUBJECTS = ['Your invoice', 'Welcome', 'Reset your password', 'Your order has shipped']

/** A wave over the weeks, so that the charts have a shape. */
async function seedMail(app: App, { organizationId, domain }: Tenant) {
  const rows: Insertable<Tables['mail_log']>[] = []
  const add = (day: number, status: 'delivered' | 'bounced' | 'deferred', isSent: boolean) => {
    const nth = rows.length
    const [inside, outside] = [`shop@${domain}`, 'jane@elsewhere.test']
    const subject = SUBJECTS[nth % SUBJECTS.length] as string
    rows.push({
      id: `figure-${nth}`,
      timestamp: new Date(
        app.clock.now().getTime() - day * DAY_MS - 2 * HOUR_MS - (nth % 300) * 60_000,
      ).toISOString(),
      organization_id: organizationId,
      status,
      sender: isSent ? inside : outside,
      recipient: isSent ? outside : inside,
      sasl_username: isSent ? inside : null,
      subject: isSent ? subject : `Re: ${subject}`,
      message_id: `<figure-${nth}@${domain}>`,
      bounce_reason: status === 'delivered' ? null : '452 4.2.2 The mailbox is full',
    })
  }
  for (let day = 0; day < 30; day += 1) {
    for (let sent = 0; sent < 14 + 9 * Math.sin(day / 3); sent += 1) add(day, 'delivered', true)
    if (day % 6 === 1) add(day, 'bounced', true)
    if (day === 2) add(day, 'deferred', true)
    for (let received = 0; received < 5 + (day % 7); received += 1) add(day, 'delivered', false)
  }
  await app.core.db.insertInto('mail_log').values(rows).execute()
}

async function seedAttention(app: App, tenant: Tenant) {
  const { db } = app.core
  await db
    .updateTable('email_accounts')
    .set({ storage_quota: GIB, storage_used: Math.floor(0.98 * GIB) })
    .where('id', '=', tenant.accountId)
    .execute()
  await tenant.post('/api/v1/smtp-credentials/', {
    domain_id: tenant.domainId,
    name: HOSTILE[1],
    expires_at: new Date(app.clock.now().getTime() + 5 * DAY_MS).toISOString(),
  })
}

async function seedReports(tenant: Tenant) {
  const { domain } = tenant
  for (const interval of ['weekly', 'monthly']) {
    await tenant.post('/api/v1/analytics/reports/scheduled', {
      domain,
      interval,
      report_type: 'deliverability',
      recipients: ['boss@acme.test', 'team@acme.test'],
    })
  }
  const { body } = await tenant.post('/api/v1/analytics/reports/generate', {
    domain,
    report_type: 'email-volume',
  })
  return { report_id: body.data.report_id as string }
}
