import { ulid } from '../../../src/lib/ulid.ts'
import type { App } from '../../support/app.ts'
import { HOSTILE } from './hostile.ts'
import { seedMailHosts } from './seed-mail-hosts.ts'

const DAY_MS = 86_400_000
const REASON = { reason: 'a ticket of the test' }

type Tenant = Awaited<ReturnType<App['tenant']>>
type Operator = Awaited<ReturnType<App['operator']>>

/** Rows for the console that no tenant can create. Returns samples for parameters of its paths. */
export async function seedOversight(app: App, tenant: Tenant): Promise<Record<string, string>> {
  const owner = await app.operator('owner')
  await seedSecurity(app, tenant, owner)
  await seedSystem(app, tenant, owner)
  await seedCompliance(tenant, owner)
  await seedMailHosts(app, owner)
  return { user_email: `person-0@${tenant.domain}`, domain: tenant.domain }
}

async function change(
  operator: Operator,
  method: 'post' | 'put',
  path: string,
  body: object,
): Promise<void> {
  const answer = await operator[method](`/api/v1${path}`, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
}

async function seedSecurity(
  app: App,
  { organizationId: organization_id }: Tenant,
  owner: Operator,
) {
  const now = app.clock.now()
  const at = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()
  await app.core.db
    .insertInto('failed_auth_attempts')
    .values(
      ['jane@acme.test', HOSTILE[0] ?? '', HOSTILE[4] ?? ''].map((username, index) => ({
        id: ulid(),
        client_ip: `203.0.113.${index + 1}`,
        username,
        service: 'imap',
        failure_reason: 'invalid_credentials',
        attempt_count: 7 - index,
        first_attempt_at: at(60 * index + 30),
        last_attempt_at: at(60 * index + 10),
      })),
    )
    .execute()
  await change(owner, 'post', '/security/failed-auth/203.0.113.3/block', {
    minutes: 600,
    ...REASON,
  })
  await change(owner, 'post', '/security/ip-rules', {
    organization_id,
    rule_type: 'blacklist',
    ip_address: '198.51.100.0/24',
    description: HOSTILE[2],
    ...REASON,
  })
  await change(owner, 'post', '/security/geo-policies', {
    organization_id,
    blocked_countries: ['AQ'],
    action: 'log_only',
    ...REASON,
  })
  await change(owner, 'post', '/security/dlp/policies', {
    organization_id,
    name: 'Card numbers',
    policy_type: 'pii',
    patterns: ['credit_card'],
    severity: 'high',
    ...REASON,
  })
  await app.core.db
    .insertInto('dlp_violations')
    .values({
      organization_id,
      policy_id: 1,
      sender: 'jane@acme.test',
      recipient: HOSTILE[1] ?? '',
      violation_type: 'credit_card',
      action_taken: 'block',
      severity: 'high',
      has_match: true,
      created_at: now.toISOString(),
    })
    .execute()
}

async function seedSystem(app: App, tenant: Tenant, owner: Operator) {
  const now = app.clock.now().getTime()
  const time = (days: number) => new Date(now + days * DAY_MS).toISOString()
  await app.core.db
    .insertInto('certificates')
    .values(
      (
        [
          ['mail.acme.test', 'active', 12, null],
          ['mail.globex.test', 'failed', -2, 'The authority answered: rate limited'],
        ] as const
      ).map(([domain, status, days, error_message]) => ({
        id: ulid(),
        domain,
        organization_id: tenant.organizationId,
        status,
        issuer: 'An Authority',
        algorithm: 'ECDSA',
        key_size: 256,
        error_message,
        valid_from: time(days - 90),
        valid_until: time(days),
        issued_at: time(days - 90),
        path: `/certificates/${domain}`,
      })),
    )
    .execute()
  const run = { hostname: 'mx1', target: 'database', encrypted: true }
  await change(owner, 'post', '/platform/backups/report', {
    ...run,
    backup_id: 'nightly-1',
    status: 'completed',
    size_bytes: 5_000_000,
  })
  await change(owner, 'post', '/platform/backups/report', {
    ...run,
    backup_id: 'nightly-2',
    status: 'failed',
    error_message: HOSTILE[0],
  })
}

async function seedCompliance(
  { organizationId: organization_id, domain }: Tenant,
  owner: Operator,
) {
  const person = encodeURIComponent(`person-0@${domain}`)
  await change(owner, 'post', `/compliance/data-export/${person}`, {
    requested_by: HOSTILE[0],
  })
  await change(owner, 'post', `/compliance/consent/${person}`, {
    consent_type: 'marketing',
    granted: true,
  })
  await change(owner, 'post', '/compliance/legal-holds', {
    organization_id,
    name: HOSTILE[2],
    custodians: [`person-1@${domain}`],
    ...REASON,
  })
  await change(owner, 'put', `/compliance/retention-policies/${organization_id}`, {
    retention_days: 730,
    ...REASON,
  })
}
