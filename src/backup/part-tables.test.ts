import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { tablesOfMailbox, tablesOfOrganization } from './part-tables.ts'

/** Tables with rows of tenants that the restore of a part leaves out, by the reason. */
const LEFT_OUT: Record<string, string[]> = {
  'written by triggers for the restored rows': ['addresses', 'mailbox_places', 'provisioning'],
  'logs and figures of the past': [
    ...['analytics_reports', 'compliance_audit', 'consents', 'dlp_violations', 'dns_checks'],
    ...['domain_ratings', 'domain_reputation', 'engagement_days', 'engagement_pending'],
    ...['engagement_quarters', 'engagement_recipients', 'events', 'feedback_loops', 'mail_log'],
    'mail_log_day_counts',
    ...['mail_scores', 'mail_traffic_days', 'mail_traffic_hours', 'mail_traffic_pending'],
    ...['mail_traffic_quarters', 'operator_audit', 'rate_limit_usage', 'send_counts'],
    ...['smtp_credential_events', 'storage_alerts', 'storage_calculations', 'storage_history'],
    ...['template_renders', 'tls_reports', 'tracked_links', 'tracked_messages'],
    ...['tracked_recipients', 'tracking_events', 'url_clicks', 'attachment_usage'],
    ...['alert_events', 'warmup_sends'],
  ],
  'work in progress': [
    ...['archive_jobs', 'calendar_mail', 'data_erasures', 'data_exports', 'migration_jobs'],
    ...['migration_pairs', 'outgoing_messages', 'outgoing_parts', 'paced_mail', 'pgp_key_jobs'],
    ...['rag_jobs', 'retention_runs', 'webhook_dead_letters', 'webhook_deliveries'],
    ...['webhook_queue', 'deleted_mailboxes', 'mailbox_moves', 'alert_notifications'],
    ...['data_export_parts', 'migration_errors', 'migration_folders', 'migration_messages'],
    ...['migration_notices', 'jmap_submissions', 'jmap_uploads', 'jmap_upload_pieces'],
  ],
  'logins that end with the loss': ['account_links', 'oauth_items', 'sessions'],
  'indexes that are made again': [
    ...['jmap_changes', 'jmap_emails', 'jmap_mailboxes', 'jmap_message_ids', 'jmap_places'],
    ...['jmap_thread_counts', 'jmap_push_subscriptions', 'rag_chunks', 'rag_documents'],
    ...['rag_folders', 'rag_languages', 'rag_signatures'],
  ],
  'with a storage and a restore of their own': [
    ...['archived_copies', 'archived_messages', 'dav_kept_objects', 'quarantine'],
    'quarantined_messages',
  ],
  'ordered again by the certificate manager': ['acme_challenges', 'acme_orders', 'certificates'],
}

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('names every table with rows of a tenant as restored, or says why it is left out', async () => {
  // By the columns that name an owner, and with every table that refers to one of these.
  const { rows } = await sql<{ name: string }>`
    with recursive owned (id) as (
      select pg_class.oid from pg_class
      join pg_attribute on attrelid = pg_class.oid
      where relkind in ('r', 'p') and not relispartition
        and relnamespace in ('public'::regnamespace, 'edge'::regnamespace)
        and attname in ('organization_id', 'org_id', 'email_account_id', 'account_id', 'domain_id',
          'user_id')
      union
      select conrelid from pg_constraint join owned on confrelid = owned.id
      join pg_class on pg_class.oid = conrelid
      where contype = 'f' and not relispartition
    )
    select id::regclass::text as name from owned order by 1`.execute(app.core.db)
  const restored = [...tablesOfOrganization, ...tablesOfMailbox].map(({ name }) => name)
  const known = new Set([...restored, ...Object.values(LEFT_OUT).flat()])
  expect(rows.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
})

it('restores everything of a mailbox with its organization too', () => {
  const whole = new Set(tablesOfOrganization.map(({ name }) => name))
  expect(tablesOfMailbox.filter(({ name }) => !whole.has(name))).toEqual([])
})
