import { sql } from 'kysely'
import { BRAND_FIELDS } from '../../src/features/whitelabel/whitelabel.schemas.ts'
import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

/** Text that tries to break out of JSON, CSV, HTML, a template, a terminal and a line. */
export const HOSTILE =
  'h0stile "}],\\"\'\r\n\t\u0001\u001b[31m\u007f\u2028\u2029\u202e\ufeff' +
  "</script></style><img src=x onerror=alert(1)>{{7*7}}#{7*7}<%=7%>%s%00=cmd|'/C calc'!A0 😀"

/** As if no value had been refused or sanitized before it was stored. */
const BRAND = Object.fromEntries(BRAND_FIELDS.map((field) => [field, HOSTILE]))

type Row = Record<string, unknown>

/**
 * A row of each table that the console shows. These values make a row valid and visible; every
 * other text column contains its own name and the hostile text.
 */
const rowsFor = (tenant: Tenant, operatorId: string): Record<string, Row> => {
  const organization = { organization_id: tenant.organizationId }
  const person = { ...organization, account_id: tenant.accountId, user_email: tenant.email }
  const domain = { domain_id: tenant.domainId, domain: tenant.domain }
  const never = '2099-01-01T00:00:00Z'
  return {
    acme_accounts: {},
    alert_channels: { type: 'webhook' },
    alert_rules: { ...organization, id: 'hostile', comparator: '>', severity: 'info' },
    alert_events: { rule_id: 'hostile', severity: 'info', state: 'firing' },
    backup_runs: { status: 'failed', encrypted: true },
    certificates: { ...organization, domain: tenant.domain, status: 'failed' },
    compliance_audit: organization,
    consents: { user_email: tenant.email, consent_type: 'marketing' },
    daemon_heartbeats: {},
    data_erasures: { ...person, status: 'soft_deleted', due_at: never },
    data_exports: { ...person, status: 'failed', export_type: 'full' },
    dlp_policies: {
      ...organization,
      policy_type: 'keyword',
      patterns: [HOSTILE],
      action: 'log_only',
      severity: 'low',
      apply_to: 'both',
    },
    dlp_violations: { ...organization, policy_id: 1, severity: 'low' },
    domain_reputation: { ...organization, ...domain, period_type: 'DAILY', is_newest: true },
    failed_auth_attempts: { client_ip: '203.0.113.7', recent_failures: [never] },
    feedback_loops: { ...organization, sender_domain: tenant.domain, feedback_type: 'abuse' },
    geo_policies: { ...organization, action: 'log_only', time_restrictions: null },
    ip_access_rules: {
      ...organization,
      rule_type: 'blacklist',
      ip_address: '203.0.113.67',
      applies_to: ['smtp', 'mailbox', 'api'],
    },
    ip_reputation: { ip_address: '203.0.113.7' },
    legal_holds: { ...organization, active: true },
    mail_hosts: {
      ...{ id: 'hostile', roles: ['outbound'], state: 'away' },
      ...{ imap_port: 1, pop3_port: 1, sieve_port: 1, lmtp_port: 1, sync_port: 1 },
    },
    mailbox_moves: {
      ...organization,
      ...{ id: 'hostile', mailbox_id: tenant.accountId, state: 'failed' },
      ...{ source_id: 'hostile', target_id: 'hostile' },
    },
    mail_log: { ...organization, status: 'bounced', bounce_type: 'HARD', message_id: '<h0stile>' },
    operator_audit: { ...organization, caller_scope: 'platform', result: 'failure' },
    operators: { email: 'h0stile@ops.test', role: 'support', created_by: null },
    organizations: {
      id: 'hostile',
      parent_organization_id: tenant.organizationId,
      plan_name: 'starter',
      sending_profile: 'both',
      settings: {},
      rate_limits: {},
      storage_quotas: {},
      webhook_urls: [],
    },
    provisioning: {
      ...organization,
      resource_type: 'domain',
      resource_id: tenant.domainId,
      status: 'failed',
    },
    quarantine: {
      ...organization,
      reason: 'spam',
      status: 'quarantined',
      expires_at: never,
    },
    service_health: { name: 'api', status: 'down' },
    sessions: {
      kind: 'operator',
      operator_id: operatorId,
      user_id: null,
      email_account_id: null,
      expires_at: never,
      absolute_expiry: never,
    },
    suppressions: {
      ...organization,
      email: 'jane@far.test',
      source: 'test',
      suppression_type: 'BOUNCE',
      bounce_type: 'HARD',
    },
    webhook_dead_letters: { ...organization, status: 'pending' },
    whitelabel_configs: { ...organization, fields: BRAND, custom_domain: 'brand.test' },
  }
}

interface Column {
  name: string
  type: string
  must: boolean
  ours: boolean
}

const columnsOf = async (app: App, table: string): Promise<Column[]> => {
  const { rows } = await sql<Column>`
    select column_name as name, data_type as type,
      is_nullable = 'NO' and column_default is null as must,
      is_identity = 'NO' and is_generated = 'NEVER' as ours
    from information_schema.columns where table_schema = 'public' and table_name = ${table}
  `.execute(app.core.db)
  return rows.filter(({ ours }) => ours)
}

const hostileValue = (app: App, table: string, { name, type, must }: Column): unknown => {
  // The mark identifies the column in a response.
  const text = `⟦${table}.${name}⟧ ${HOSTILE}`
  if (type === 'text') return name === 'id' ? ulid() : text
  if (type === 'ARRAY') return [text]
  if (type === 'jsonb') return { [HOSTILE]: text }
  if (!must) return undefined
  if (type.startsWith('timestamp')) return app.clock.now().toISOString()
  if (type === 'bytea') return Buffer.from(text)
  return type === 'boolean' ? false : 1
}

/** Inserts one hostile row into each table and returns the columns that contain hostile text. */
export async function insertHostileRows(
  app: App,
  tenant: Tenant,
  operatorId: string,
): Promise<string[]> {
  const columns: string[] = []
  // A new tenant already has a provisioning row, which would conflict.
  await app.core.db.deleteFrom('provisioning').execute()
  for (const [table, given] of Object.entries(rowsFor(tenant, operatorId))) {
    const row: Row = {}
    for (const column of await columnsOf(app, table)) {
      const { name, type } = column
      row[name] = name in given ? given[name] : hostileValue(app, table, column)
      if (!(name in given) && name !== 'id' && ['text', 'ARRAY', 'jsonb'].includes(type)) {
        columns.push(`${table}.${name}`)
      }
    }
    await app.core.db
      .insertInto(table as never)
      .values(row as never)
      .execute()
  }
  return columns
}
