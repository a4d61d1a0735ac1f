import { type RawBuilder, type SqlBool, sql } from 'kysely'

export interface PartTable {
  name: string
  /** The rows of an organization or of a mailbox, by its id. */
  rows(id: string): RawBuilder<SqlBool>
  /** Leaves out rows that have no place in the installation any more. */
  onlyIf?: RawBuilder<SqlBool>
  /** Sums that triggers compute again from the restored rows. */
  counted?: string[]
  /** References to rows that are not restored. */
  unset?: string[]
}

/** Columns that record use and sizes: a row that differs in nothing else counts as unchanged. */
export const OBSERVED: ReadonlySet<string> = new Set([
  ...['last_used', 'last_used_at', 'last_used_service', 'last_used_ip', 'last_activity'],
  ...['last_login', 'last_login_at', 'last_step', 'rate_usage_data'],
  ...['storage_used', 'attachment_storage_used', 'email_storage_used', 'total_files'],
  ...['total_attachments', 'total_emails', 'last_storage_calculation'],
  ...['storage_calculation_time_ms', 'hit_count', 'render_count', 'bounce_count', 'told_day'],
  ...['evaluated_at', 'breach_began_at', 'last_fired_at', 'last_notified_at'],
  ...['next_run_at', 'due_at', 'last_run_at', 'last_error', 'lease_owner', 'lease_until'],
  // Of calendars, see `renewSync`.
  ...['seq', 'forgotten_seq', 'object_count', 'bytes'],
  // Columns of JMAP accounts, which `renewSync` sets.
  ...['state', 'forgotten', 'used_at'],
])

/** An address has one identity of its own, which may have been made anew. */
const isNewIdentity = sql<SqlBool>`incoming.may_delete or not exists (
  select from jmap_identities as other where other.account_id = incoming.account_id
    and other.email = incoming.email and not other.may_delete)`

const ofOrganization = (name: string): PartTable => ({
  name,
  rows: (id) => sql`organization_id = ${id}`,
})

const ofParent = (name: string, column: string, parent: string): PartTable => ({
  name,
  rows: (id) =>
    sql`${sql.ref(column)} in (select id from ${sql.table(parent)} where organization_id = ${id})`,
})

/**
 * The tables that an organization has set up and owns, parents before children. Logs, figures, queues, sessions
 * and indexes are not among them: they are of the past, or made again.
 */
export const tablesOfOrganization: readonly PartTable[] = [
  {
    name: 'organizations',
    rows: (id) => sql`id = ${id}`,
    counted: [
      'domain_count',
      'email_account_count',
      'total_storage_used',
      'storage_quota',
      'inactive_domain_count',
      'inactive_email_accounts',
      'suspended_email_accounts',
    ],
  },
  {
    ...ofOrganization('domains'),
    counted: [
      'total_email_accounts',
      'total_storage_used',
      'total_email_storage',
      'total_attachment_storage',
      'total_emails',
      'total_attachments',
      'inactive_email_accounts',
      'suspended_email_accounts',
      'allotted_storage',
    ],
  },
  ofParent('dkim_keys', 'domain_id', 'domains'),
  ofOrganization('email_accounts'),
  ofOrganization('aliases'),
  ofOrganization('smtp_credentials'),
  ofOrganization('shared_mailboxes'),
  ofParent('shared_mailbox_members', 'shared_mailbox_id', 'shared_mailboxes'),
  ofOrganization('app_passwords'),
  ofOrganization('dashboard_users'),
  {
    name: 'totp_enrollments',
    rows: (id) => sql`
      kind = 'mailbox' and subject_id in (select id from email_accounts where organization_id = ${id})
      or kind = 'user' and subject_id in (select id from dashboard_users where organization_id = ${id})`,
  },
  ofOrganization('api_keys'),
  ofOrganization('oauth_clients'),
  ofOrganization('webhook_endpoints'),
  ofOrganization('whitelabel_configs'),
  ofOrganization('rate_limit_rules'),
  ofOrganization('ip_access_rules'),
  ofOrganization('geo_policies'),
  ofOrganization('suppressions'),
  { ...ofOrganization('blocked_senders'), unset: ['quarantine_id'] },
  ofOrganization('transport_rules'),
  ofOrganization('dlp_policies'),
  ofOrganization('legal_holds'),
  ofOrganization('retention_policies'),
  ofOrganization('dav_collections'),
  ofParent('dav_objects', 'collection_id', 'dav_collections'),
  ofOrganization('jmap_accounts'),
  { ...ofParent('jmap_identities', 'account_id', 'jmap_accounts'), onlyIf: isNewIdentity },
  ofOrganization('pgp_keys'),
  ofOrganization('smime_certificates'),
  ofOrganization('mail_encryption'),
  ofOrganization('archive_settings'),
  ofOrganization('archive_keys'),
  ofOrganization('templates'),
  ofParent('template_versions', 'template_id', 'templates'),
  ofOrganization('url_protection_settings'),
  ofOrganization('url_blocklist'),
  ofOrganization('analytics_schedules'),
  ofOrganization('warmup_schedules'),
  ofOrganization('alert_rules'),
  ofOrganization('rag_settings'),
  ofOrganization('rag_mail_domains'),
  ofOrganization('rag_collections'),
]

/** A mailbox with its logins, shares, identities, keys, calendars and contacts. */
export const tablesOfMailbox: readonly PartTable[] = [
  { name: 'email_accounts', rows: (id) => sql`id = ${id}` },
  { name: 'app_passwords', rows: (id) => sql`email_account_id = ${id}` },
  {
    name: 'totp_enrollments',
    rows: (id) => sql`kind = 'mailbox' and subject_id = ${id}`,
  },
  {
    name: 'shared_mailbox_members',
    rows: (id) => sql`email_account_id = ${id}`,
    onlyIf: sql`exists (select from shared_mailboxes where id = incoming.shared_mailbox_id)`,
  },
  { name: 'jmap_accounts', rows: (id) => sql`id = ${id}` },
  { name: 'jmap_identities', rows: (id) => sql`account_id = ${id}`, onlyIf: isNewIdentity },
  { name: 'pgp_keys', rows: (id) => sql`account_id = ${id}` },
  { name: 'smime_certificates', rows: (id) => sql`account_id = ${id}` },
  { name: 'mail_encryption', rows: (id) => sql`account_id = ${id}` },
  { name: 'dav_collections', rows: (id) => sql`account_id = ${id}` },
  {
    name: 'dav_objects',
    rows: (id) => sql`collection_id in (select id from dav_collections where account_id = ${id})`,
  },
]
