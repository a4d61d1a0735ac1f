import { sql } from 'kysely'
import { ulid } from '../../src/lib/ulid.ts'
import type { Client } from './app.ts'
import { type App, PASSWORD } from './app.ts'
import { startOpenssl } from './openssl.ts'

export type Tenant = Awaited<ReturnType<typeof furnishedTenant>>

/** A tenant with one resource of every kind. Every text it wrote contains its name. */
export async function furnishedTenant(app: App, name: string) {
  const tenant = await app.tenant(name)
  const { domain, domainId, organizationId } = tenant
  const made = async (path: string, body: object) => {
    const answer = await tenant.post(`/api/v1${path}`, body)
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.text}`)
    return answer.body.data
  }
  const changed = async (path: string, body: object) => {
    const answer = await tenant.put(`/api/v1${path}`, body)
    if (answer.status !== 200) throw new Error(`PUT ${path}: ${answer.text}`)
  }
  const owner = await app.operator('owner')
  await owner.put(`/api/v1/organizations/${organizationId}`, { external_id: `${name}-customer` })
  await changed(`/domains/${domainId}`, {
    external_id: `${name}-domain`,
    description: `mail of ${name}`,
  })
  // With a DKIM key, which the bootstrap domain does not have.
  const second = await made('/domains/', { domain: `mail.${name}.test` })
  const account = await made('/mailboxes/email-accounts', {
    email: `jane@${domain}`,
    password: PASSWORD,
    name: `Jane of ${name}`,
    external_id: `${name}-jane`,
  })
  const alias = await made('/aliases/add', {
    source: `info@${domain}`,
    destination: `jane@${domain}`,
  })
  const credential = await made('/smtp-credentials/', {
    domain_id: domainId,
    username: `${name}-login`,
    name: `login of ${name}`,
  })
  await tenant.post(`/api/v1/smtp-credentials/${credential.id}/rotate`)
  const shared = await made('/shared-mailboxes', {
    email: `support@${domain}`,
    name: `Support of ${name}`,
  })
  await made(`/shared-mailboxes/${shared.id}/members`, { email_account_id: account.id })
  const endpoint = await made('/webhooks/endpoints', { url: `https://hooks.${domain}/` })
  const report = await made('/analytics/reports/generate', { domain })
  const schedule = await made('/analytics/reports/scheduled', {
    domain,
    recipients: [`jane@${domain}`],
  })
  const rule = await made('/transport-rules/', {
    name: `Rule of ${name}`,
    conditions: [{ field: 'subject', operator: 'contains', value: name }],
    actions: [{ type: 'quarantine' }],
  })
  const template = await made('/templates/', {
    name: `Template of ${name}`,
    subject_template: `Mail of ${name}`,
    html_content: `<p>${name}</p>`,
  })
  const about = { event_id: ulid(), event_type: 'domain.added', organization_id: organizationId }
  const deliveryId = ulid()
  await app.core.db
    .insertInto('webhook_deliveries')
    .values({
      ...about,
      id: deliveryId,
      webhook_url: `https://hooks.${domain}/`,
      delivery_status: 'delivered',
      http_status_code: 200,
      attempts: 1,
      created_at: app.clock.now().toISOString(),
    })
    .execute()
  const deadLetter = await app.core.db
    .insertInto('webhook_dead_letters')
    .values({
      ...about,
      endpoint_url: `https://hooks.${domain}/`,
      last_error: `${name} did not answer`,
      attempt_count: 8,
      payload: {},
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const ruleId = ulid()
  await app.core.db
    .insertInto('ip_access_rules')
    .values({
      id: ruleId,
      organization_id: tenant.organizationId,
      rule_type: 'blacklist',
      ip_address: '203.0.113.66',
    })
    .execute()
  const policyId = ulid()
  await app.core.db
    .insertInto('geo_policies')
    .values({ id: policyId, organization_id: tenant.organizationId })
    .execute()
  const quarantineId = ulid()
  const messageId = `<held@${domain}>`
  await app.core.db
    .insertInto('quarantine')
    .values({
      id: quarantineId,
      organization_id: organizationId,
      message_id: messageId,
      subject: `held for ${name}`,
      reason: 'spam',
      expires_at: '2099-01-01T00:00:00Z',
    })
    .execute()
  const migration = await tenant.post('/api/v1/migration/import', {
    source_host: `imap.${domain}`,
    source_username: `jane@${domain}`,
    source_password: PASSWORD,
    target_email: account.email,
    target_password: PASSWORD,
  })
  const migrationJobId = migration.body.job_id as string
  const archiveId = ulid()
  await app.core.db
    .insertInto('archived_messages')
    .values({
      id: archiveId,
      organization_id: organizationId,
      content_hash: Buffer.alloc(32),
      sender: `jane@${domain}`,
      subject: `archived by ${name}`,
      direction: 'outbound',
      received_at: '2026-01-01T00:00:00Z',
      size: 1,
      stored_size: 1,
      storage_type: 's3',
      storage_key: `archive/${archiveId}`,
      sealed_for: [],
      search: sql`archive_words(${`archived by ${name}`}, ${`jane@${domain}`}, '{}')`,
    })
    .execute()
  const archiveJobId = ulid()
  await app.core.db
    .insertInto('archive_jobs')
    .values({
      id: archiveJobId,
      organization_id: organizationId,
      kind: 'rekey',
      status: 'completed',
      created_by: name,
    })
    .execute()
  const trackedEmailId = `tracked@mail.${domain}`
  await app.core.db
    .insertInto('tracked_messages')
    .values({
      id: ulid(),
      organization_id: organizationId,
      domain_id: domainId,
      domain,
      email_id: trackedEmailId,
    })
    .execute()
  const collection = await tenant.post(`/api/v1/rag/collections/${domain}`, {
    name: 'handbook',
    description: `documents of ${name}`,
  })
  const collectionId = collection.body.data.collection_id as string
  await tenant.post(`/api/v1/rag/documents/${collectionId}`, {
    documents: [{ id: `${name}-document`, content: `The handbook of ${name}` }],
  })
  await made('/tracking/suppress', { email: `gone@${name}-friend.test` })
  const client = await made('/oauth/clients', {
    name: `Webmail of ${name}`,
    redirect_uris: [`https://mail.${domain}/signed-in`],
  })
  const grantId = ulid()
  await app.core.db
    .insertInto('oauth_items')
    .values({
      id: grantId,
      kind: 'Grant',
      id_hash: `grant of ${name}`,
      client_id: client.client_id,
      email_account_id: account.id,
      scopes: ['imap'],
      payload: Buffer.from(''),
      expires_at: '2099-01-01T00:00:00Z',
    })
    .execute()
  const pgpKey = await made('/encryption/pgp/generate', {
    email: tenant.email,
    passphrase: `the passphrase of ${name}`,
  })
  const openssl = startOpenssl()
  const { certificate } = openssl.issue(tenant.email)
  openssl.stop()
  const smime = await made('/encryption/smime/import', { email: tenant.email, certificate })
  const entry = await made('/url-protection/blocklist', {
    entry_type: 'domain',
    entry: `${name}-evil.test`,
    reason: `seen by ${name}`,
  })
  const clickId = ulid()
  await app.core.db
    .insertInto('url_clicks')
    .values({
      id: clickId,
      organization_id: organizationId,
      url: `https://shop.${domain}/`,
      url_domain: `shop.${domain}`,
      scan_result: 'safe',
      reasons: [],
      client_network: '203.0.113.0',
      clicked_at: app.clock.now().toISOString(),
    })
    .execute()
  const holder = await app.session('mailbox', account.id)
  const ids = [
    client.client_id,
    grantId,
    organizationId,
    domainId,
    second.id,
    tenant.accountId,
    tenant.userId,
    tenant.keyId,
    account.id,
    alias.alias_id,
    credential.id,
    shared.id,
    endpoint.id,
    rule.id,
    template.id,
    deliveryId,
    quarantineId,
    ruleId,
    policyId,
    report.report_id,
    schedule.schedule_id,
    migrationJobId,
    archiveId,
    archiveJobId,
    collectionId,
    entry.id,
    pgpKey.id,
    pgpKey.fingerprint,
    smime.id,
    smime.fingerprint,
    clickId,
    holder.id,
  ] as string[]
  return {
    ...tenant,
    name,
    ids,
    secondDomain: second as { id: string; domain: string },
    account: account as { id: string; email: string },
    alias: { id: alias.alias_id as string, source: alias.source as string },
    credential: credential as { id: string; username: string },
    shared: shared as { id: string; email: string },
    endpoint: endpoint as { id: string },
    rule: rule as { id: string },
    templateId: template.id as string,
    clientId: client.client_id as string,
    grantId,
    entryId: entry.id as string,
    fingerprint: pgpKey.fingerprint as string,
    certificateFingerprint: smime.fingerprint as string,
    deadLetterId: String(deadLetter.id),
    deliveryId,
    quarantineId,
    ruleId,
    policyId,
    reportId: report.report_id as string,
    scheduleId: schedule.schedule_id as string,
    migrationJobId,
    archiveId,
    archiveJobId,
    messageId,
    trackedEmailId,
    collectionId,
    externalIds: {
      organization: `${name}-customer`,
      domain: `${name}-domain`,
      account: `${name}-jane`,
    },
  }
}

/** A tenant with a key that has admin access and with a dashboard session. */
export async function waysIn(app: App, tenant: Tenant): Promise<Record<string, Client>> {
  const key = await app.key(tenant.organizationId, { permissions: { admin_access: true } })
  return { key, dashboard: await app.dashboard(tenant.email) }
}

// Attempts, including refused ones, and what the job that looks at DNS finds.
const WRITTEN_BY_THE_HOST = ['operator_audit', 'failed_auth_attempts', 'dns_checks']

// Written some seconds later: by requests of the tenant itself, and by the job that looks for proofs.
const WRITTEN_LATER = ['last_used', 'last_activity', 'ownership_checked_at']

/** All rows that mention a tenant, except rows owned by the other tenant. */
export async function rowsOf(app: App, tenant: Tenant, other: Tenant): Promise<string[]> {
  const { db } = app.core
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename
  `.execute(db)
  const marks = tenant.ids.map((id) => `%${id}%`)
  const lines = await Promise.all(
    tables
      .filter(({ name }) => !WRITTEN_BY_THE_HOST.includes(name))
      .map(async ({ name }) => {
        const { rows } = await sql<{ row: object }>`
          select to_jsonb(one) - ${WRITTEN_LATER}::text[] as row from ${sql.table(name)} one
          where to_jsonb(one)::text like any (${marks}::text[])
            and coalesce(to_jsonb(one) ->> 'organization_id', to_jsonb(one) ->> 'org_id', '')
              <> ${other.organizationId}
        `.execute(db)
        return rows.map(({ row }) => `${name} ${JSON.stringify(row)}`)
      }),
  )
  return lines.flat().sort()
}
