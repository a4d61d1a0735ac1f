// Written by `npm run openapi` from openapi/v1.json.

export type AcceptedMessages = {
  messages: Array<{
    /** As in the message, in events and in the message trace */
    message_id: string
    /** The address */
    to: string
    /** suppressed: the address gets no mail of this organization */
    status: "queued" | "suppressed"
  }>
  queued: number
  suppressed: number
}

export type AccountLink = {
  kind: "invitation" | "password_reset"
  expires_at: string
  expired: boolean
  /** none: created on the host and not mailed */
  mail_status: "pending" | "sent" | "failed" | "none"
  /** Reason that the mail could not be sent */
  mail_error: string | null
} | null

export type AcmeAccount = {
  id: string
  email: string
  /** Orders it was used for, also those that failed */
  certs_issued: number
  success_count: number
  failure_count: number
  /** Percent */
  success_rate: number | null
  last_used: string | null
  registered_at: string | null
}

export type Activity = {
  /** Unique together with kind */
  id: string
  kind: "event" | "operator"
  /** The name of the event, or the operation that an operator called */
  action: string
  summary: string
  /** The name of what it is about, where it has one */
  subject: string | null
  created_at: string
}

export type AlertChannel = {
  id: string
  name: string
  type: "email" | "webhook"
  target: string
  enabled: boolean
  has_signing_secret: boolean
  last_used_at: string | null
  /** null after a success */
  last_error: string | null
  created_at: string
}

export type AlertEvent = {
  id: number
  rule_id: string | null
  rule_name: string
  severity: "critical" | "warning" | "info"
  value: number | null
  threshold: number
  state: "firing" | "resolved"
  message: string | null
  created_at: string
  resolved_at: string | null
}

export type AlertRule = {
  id: string
  name: string
  description: string | null
  metric: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
  comparator: ">" | ">=" | "<" | "<=" | "=="
  threshold: number
  /** Seconds that the condition must hold before the rule fires */
  for_seconds: number
  severity: "critical" | "warning" | "info"
  enabled: boolean
  channel_ids: Array<string>
  /** null: the whole platform */
  organization_id: string | null
  last_fired_at: string | null
  created_at: string
  updated_at: string
}

export type Alias = {
  id: string
  /** An address, or `@domain` for everything else at that domain */
  source: string
  /** As it was sent */
  destination: string
  domain_id: string
  organization_id: string
  active: boolean
  created_at: string
  updated_at: string
  domain_description: string | null
  destination_count: number
  /** In lower case, each once, domains in A-labels */
  destinations: Array<string>
  /** Messages of the last 30 days; null for a catch-all */
  monthly_forwards: number | null
}

export type AliasStats = {
  basic_stats: {
    total_aliases: number
    active_aliases: number
    inactive_aliases: number
  }
  /** Of active aliases, up to 10, by their whole text */
  top_destinations: Array<{
    destination: string
    usage_count: number
  }>
  /** The last 30 days; days without mail are left out */
  monthly_volume: Array<{
    date: string
    forwards_count: number
  }>
}

export type ApiKey = {
  key_id: string
  name: string
  /** null for a platform key */
  organization_id: string | null
  organization_name: string | null
  scope: "organization" | "platform"
  /** read, write or admin, for the whole API or for one area: domains:write */
  scopes: Array<string>
  status: "active" | "expired" | "revoked"
  expires_at: string | null
  last_used: string | null
  /** null for a key of the command line */
  created_by: string | null
  created_at: string
}

export type AppPassword = {
  id: string
  name: string
  /** `imap` reads mail (POP3 too), `smtp` sends, `sieve` edits filters, `dav` is for calendars and contacts, `jmap` for JMAP programs */
  scopes: Array<"imap" | "smtp" | "sieve" | "dav" | "jmap">
  last_used_at: string | null
  last_used_service: string | null
  last_used_ip: string | null
  created_at: string
}

export type ArchiveJob = {
  id: string
  organization_id: string
  kind: "import" | "rekey"
  email: string | null
  status: "queued" | "running" | "completed" | "failed"
  /** Messages to look at; null before the start */
  total: number | null
  done: number
  /** Messages that were archived or sealed anew */
  added: number
  failed: number
  error: string | null
  created_by: string
  created_at: string
  finished_at: string | null
}

export type ArchiveSettings = {
  organization_id: string
  /** This installation has storage for an archive */
  available: boolean
  /** New mail of the organization is archived */
  enabled: boolean
  /** The age recipient of the organization; null before its first message */
  recipient: string | null
  /** The organization brought the recipient, and alone has its identity */
  own_recipient: boolean
  messages: number
  /** Bytes of the sealed objects */
  bytes: number
  /** Messages before their upload */
  waiting: number
}

export type ArchiveSpoolStatus = {
  storage_type: "s3" | "local" | null
  spools: Array<{
    spool_id: string
    host: string
    /** Messages that wait for their upload */
    messages: number
    bytes: number
    oldest_at: string | null
    /** Messages that could not be archived */
    failures: number
    /** Reason that nothing is uploaded */
    problem: string | null
    problem_since: string | null
    seen_at: string
  }>
  /** Objects that are still to be deleted */
  deletions: number
  /** Objects among them that could not be deleted for 2 hours */
  overdue_deletions: number
  last_check: {
    begun_at: string
    finished_at: string | null
    checked: number
    damaged: number
  } | null
}

export type ArchivedMessage = {
  id: string
  message_id: string | null
  /** Empty for a bounce */
  sender: string
  recipients: Array<string>
  subject: string | null
  direction: "inbound" | "outbound"
  received_at: string
  archived_at: string
  /** Bytes of the message */
  size: number
  /** Bytes of its sealed object */
  stored_size: number
  /** spool: on the disk of the mail host, before its upload */
  storage_type: "spool" | "s3" | "local"
}

export type AuditEntry = {
  id: number
  operator_id: string | null
  operator_email: string | null
  /** The API key that made the request */
  api_key_id: string | null
  caller_scope: string | null
  action: string
  target_type: string | null
  target_id: string | null
  organization_id: string | null
  /** Without secrets */
  request_body: Record<string, unknown> | null
  result: "success" | "failure"
  /** 202 for a change of the mail queue that begins; its outcome is in another row with the same correlation_id */
  status_code: number
  ip_address: string
  correlation_id: string | null
  created_at: string
}

export type BackupRun = {
  id: number
  backup_id: string
  hostname: string
  started_at: string
  finished_at: string | null
  status: "running" | "completed" | "failed"
  size_bytes: number | null
  target: string
  backup_type: string
  storage_path: string | null
  checksum: string | null
  encrypted: boolean
  error: string | null
}

export type BlockedSender = {
  id: string
  /** The organization that takes no mail of it */
  organization_id: string
  sender: string
  reason: string
  /** The message that it was blocked with */
  quarantine_id: string | null
  created_by: string
  created_at: string
}

export type CapabilityManifest = {
  edition: "enterprise" | "community"
  version: string
  /** Additive; treat an unknown string as absent */
  capabilities: Array<string>
}

export type Certificate = {
  id: string
  /** unknown when it is for no domain */
  domain: string
  organization_id: string | null
  organization_name: string | null
  status: "active" | "expired" | "revoked" | "pending" | "failed"
  issuer: string | null
  algorithm: string | null
  key_size: number | null
  auto_renew: boolean | null
  /** Reason that it cannot be read, or could not be renewed */
  error_message: string | null
  valid_from: string | null
  valid_until: string | null
  /** Whole days; negative: since then */
  days_until_expiry: number | null
  issued_at: string | null
  last_renewed: string | null
}

export type ComparedDnsRecord = {
  type: string
  name: string
  /** Exactly what to publish */
  value: string
  priority: number | null
  /** Seconds */
  ttl: number
  /** Mail suffers without it; the others help mail programs and other hosts */
  required: boolean
  description: string
  /** The state in DNS; unknown when it did not answer */
  status?: "pass" | "missing" | "different" | "unknown"
  /** The records of this kind that DNS has */
  found?: Array<string>
}

export type ComplianceAuditRow = {
  id: number
  action: string
  /** The organization that it concerns */
  organization_id: string | null
  user_email: string | null
  /** An operator, or `system` */
  performed_by: string | null
  ip_address: string | null
  details: Record<string, unknown>
  created_at: string
}

export type Consent = {
  id: string
  user_email: string
  consent_type: string
  granted: boolean
  /** Of the person, when it was given */
  ip_address: string | null
  /** Of the person, when it was given */
  user_agent: string | null
  granted_at: string | null
  revoked_at: string | null
  created_at: string
  updated_at: string
}

export type CreatedDomain = {
  id: string
  organization_id: string
  /** As DNS writes it, with A-labels */
  domain: string
  /** As people write it */
  domain_unicode: string
  external_id: string | null
  description: string | null
  active: boolean
  verified_at: string | null
  /** Time when its ownership was proven; null = a pending claim, which is not hosted */
  ownership_verified_at: string | null
  /** Bytes; bounds the sum over the mailboxes; 0 = no bound */
  max_quota: number
  max_users: number
  dkim_enabled: boolean
  dkim_selector: string
  /** Mail of its SMTP credentials may be tracked, where the host tracks */
  tracking_enabled: boolean
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Bytes */
  total_storage_used: number
  total_attachment_storage: number
  total_email_storage: number
  total_email_accounts: number
  total_emails: number
  total_attachments: number
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  last_storage_calculation: string | null
  storage_calculation_time_ms: number | null
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  dkim_record: string | null
  dkim_dns_name: string
  dns_records: Array<DnsRecord>
}

export type CreatedSmtpCredential = {
  id: string
  organization_id: string
  domain_id: string
  /** SASL login, unique */
  username: string
  name: string | null
  /** First characters of a generated secret */
  prefix: string | null
  created_by: string | null
  allowed_ips: Array<string>
  ip_allowlist_enabled: boolean
  expires_at: string | null
  /** null inherits the organization's */
  hourly_limit: number | null
  /** null inherits the organization's */
  daily_limit: number | null
  /** false: its mail is not tracked, whatever the host does */
  tracking_enabled: boolean
  last_used_at: string | null
  /** false: revoked */
  active: boolean
  created_at: string
  updated_at: string
  /** Shown this once */
  secret?: string
}

export type CreatedWebhookEndpoint = {
  id: string
  organization_id: string | null
  url: string
  /** Shown this once */
  secret: string
  active: boolean
}

export type DashboardUser = {
  id: string
  organization_id: string
  organization_name: string
  email: string
  full_name: string | null
  role: "owner" | "admin" | "read_only"
  /** invited: has not set a password yet */
  status: "invited" | "active" | "disabled"
  /** false: disabled */
  is_active: boolean
  two_factor_enabled: boolean
  last_login_at: string | null
  active_session_count: number
  open_link: AccountLink
  created_at: string
  updated_at: string
}

export type DataErasure = {
  id: string
  user_email: string
  status: "pending" | "soft_deleted" | "hard_deleted" | "cancelled"
  requested_by: string
  reason: string | null
  /** Counts of removed items so far, by kind of data */
  removed: Record<string, unknown>
  /** Reason that the removal is postponed */
  error_message: string | null
  soft_deleted_at: string
  hard_delete_scheduled_at: string
  hard_deleted_at: string | null
  created_at: string
}

export type DataExport = {
  id: string
  user_email: string
  status: "pending" | "processing" | "completed" | "failed" | "expired"
  export_type: "full" | "emails" | "contacts" | "settings"
  /** A path of this API; null until the export is completed */
  download_url: string | null
  /** Size of the archive in bytes */
  file_size: number
  /** Counts of items in the archive, by kind of data */
  contents: Record<string, unknown>
  requested_by: string
  error_message: string | null
  completed_at: string | null
  expires_at: string | null
  created_at: string
}

export type DeletedMailbox = {
  /** The id that the mailbox had */
  id: string
  organization_id: string
  email: string
  deleted_at: string
  /** Its mail is removed at the next run of the job after this time, unless held */
  purge_after: string
  /** A legal hold keeps the mail */
  held: boolean
  /** Attempts to remove the mail so far */
  attempts: number
  /** Reason that the last attempt failed */
  error_message: string | null
}

export type DestinationLimit = {
  domain: string
  /** Messages an hour, for each organization */
  hourly_limit: number
  /** Messages a day, for each organization */
  daily_limit: number
  /** Messages a minute that are accepted without a delay */
  burst_limit: number
  /** Delay of each message after the burst */
  delay_ms: number
  /** false: set by an operator */
  is_built_in: boolean
  /** Messages on hold until the limit allows them */
  waiting: number
}

export type DkimKey = {
  selector: string
  algorithm: string
  key_size: number
  /** Outgoing mail is signed with this one */
  active: boolean
  retired_at: string | null
  created_at: string
  updated_at: string
  record_name: string
  record_type: "TXT"
  record_value: string
}

export type DlpPolicy = {
  id: number
  organization_id: string
  organization_name: string
  name: string
  description: string | null
  policy_type: "pii" | "keyword" | "regex" | "file_type"
  patterns: Array<string>
  action: "block" | "quarantine" | "encrypt" | "notify" | "log_only"
  severity: "low" | "medium" | "high" | "critical"
  enabled: boolean
  apply_to: "inbound" | "outbound" | "both"
  created_at: string
  updated_at: string
}

export type DlpViolation = {
  id: number
  organization_id: string
  organization_name: string
  policy_id: number
  /** null when the policy was deleted */
  policy_name: string | null
  policy_type: string | null
  message_id: string | null
  sender: string
  recipient: string | null
  violation_type: string
  action_taken: string
  severity: string
  has_match: boolean
  /** Always null */
  matched_pattern: null
  /** Always null */
  details: null
  redacted: true
  created_at: string
}

export type DnsChange = {
  /** The MX record; unknown while DNS has not answered yet */
  mx: "pass" | "missing" | "different" | "unknown"
  /** The SPF record; unknown while DNS has not answered yet */
  spf: "pass" | "missing" | "different" | "unknown"
  /** The record of the signing DKIM key; unknown while DNS has not answered yet */
  dkim: "pass" | "missing" | "different" | "unknown"
  /** The DMARC record; unknown while DNS has not answered yet */
  dmarc: "pass" | "missing" | "different" | "unknown"
  /** The proof of the ownership; unknown while DNS has not answered yet */
  ownership: "pass" | "missing" | "different" | "unknown"
  /** The first look with this result */
  first_seen_at: string
  /** The last look with this result */
  last_seen_at: string
}

export type DnsCheck = {
  status: "pass" | "fail"
  type: string
  name: string
  /** Exactly what to publish */
  expected?: string
  /** The published value */
  actual?: string | null
  found?: boolean
  policy?: string
  /** Advice for fixing the record */
  message?: string
}

export type DnsRecord = {
  type: string
  name: string
  /** Exactly what to publish */
  value: string
  priority: number | null
  /** Seconds */
  ttl: number
  /** Mail suffers without it; the others help mail programs and other hosts */
  required: boolean
  description: string
}

export type DnsRecords = {
  domain: string
  mail_host: string
  /** In the zone of the domain */
  records: Array<ComparedDnsRecord>
  /** In the zone of the mail host: its operator publishes them */
  host_records: Array<ComparedDnsRecord>
  /** The records of the domain in the format that DNS hosts import */
  zone_file: string
  /** Null without `check` */
  checked_at: string | null
}

export type Domain = {
  id: string
  organization_id: string
  /** As DNS writes it, with A-labels */
  domain: string
  /** As people write it */
  domain_unicode: string
  external_id: string | null
  description: string | null
  active: boolean
  verified_at: string | null
  /** Time when its ownership was proven; null = a pending claim, which is not hosted */
  ownership_verified_at: string | null
  /** Bytes; bounds the sum over the mailboxes; 0 = no bound */
  max_quota: number
  max_users: number
  dkim_enabled: boolean
  dkim_selector: string
  /** Mail of its SMTP credentials may be tracked, where the host tracks */
  tracking_enabled: boolean
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Bytes */
  total_storage_used: number
  total_attachment_storage: number
  total_email_storage: number
  total_email_accounts: number
  total_emails: number
  total_attachments: number
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  last_storage_calculation: string | null
  storage_calculation_time_ms: number | null
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
}

export type DomainDetail = {
  id: string
  organization_id: string
  /** As DNS writes it, with A-labels */
  domain: string
  /** As people write it */
  domain_unicode: string
  external_id: string | null
  description: string | null
  active: boolean
  verified_at: string | null
  /** Time when its ownership was proven; null = a pending claim, which is not hosted */
  ownership_verified_at: string | null
  /** Bytes; bounds the sum over the mailboxes; 0 = no bound */
  max_quota: number
  max_users: number
  dkim_enabled: boolean
  dkim_selector: string
  /** Mail of its SMTP credentials may be tracked, where the host tracks */
  tracking_enabled: boolean
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Bytes */
  total_storage_used: number
  total_attachment_storage: number
  total_email_storage: number
  total_email_accounts: number
  total_emails: number
  total_attachments: number
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  last_storage_calculation: string | null
  storage_calculation_time_ms: number | null
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  dkim_record: string | null
  dkim_dns_name: string
  dns_records: Array<DnsRecord>
  organization: Organization
  /** The first 50 by address; the list of mailboxes, narrowed to the domain, has all */
  email_accounts: Array<EmailAccount>
  email_account_count: number
  usage_statistics: {
    account_usage_percentage: number
    storage_usage_percentage: number
    total_account_storage: number
  }
}

export type DomainListItem = {
  id: string
  organization_id: string
  /** As DNS writes it, with A-labels */
  domain: string
  /** As people write it */
  domain_unicode: string
  external_id: string | null
  description: string | null
  active: boolean
  verified_at: string | null
  /** Time when its ownership was proven; null = a pending claim, which is not hosted */
  ownership_verified_at: string | null
  /** Bytes; bounds the sum over the mailboxes; 0 = no bound */
  max_quota: number
  max_users: number
  dkim_enabled: boolean
  dkim_selector: string
  /** Mail of its SMTP credentials may be tracked, where the host tracks */
  tracking_enabled: boolean
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Bytes */
  total_storage_used: number
  total_attachment_storage: number
  total_email_storage: number
  total_email_accounts: number
  total_emails: number
  total_attachments: number
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  last_storage_calculation: string | null
  storage_calculation_time_ms: number | null
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  email_account_count: number
  organization_name: string
}

export type DomainReputation = {
  id: string
  domain: string
  domain_id: string
  organization_id: string
  /** 0 to 100 */
  overall_score: number
  /** 0 to 100 */
  deliverability_score: number
  /** 0 to 100 */
  engagement_score: number
  emails_sent: number
  emails_delivered: number
  emails_bounced: number
  emails_complained: number
  emails_opened: number
  emails_clicked: number
  period_start: string
  period_end: string
  period_type: string
  /** Complaints by provider */
  isp_data: Record<string, unknown> | null
  /** Against the period before; null when there is none */
  trend: number | null
}

export type EmailAccount = {
  id: string
  domain_id: string
  /** Always that of the domain */
  organization_id: string
  email: string
  local_part: string
  external_id: string | null
  name: string | null
  status: "active" | "inactive" | "suspended"
  /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
  storage_quota: number
  /** Bytes */
  storage_used: number
  /** Bytes */
  attachment_storage_used: number
  /** Bytes */
  email_storage_used: number
  total_files: number
  total_attachments: number
  total_emails: number
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  forward_enabled: boolean
  forward_destination: string | null
  vacation_enabled: boolean
  vacation_message: string | null
  last_login: string | null
  last_activity: string | null
  last_storage_calculation: string | null
  must_change_password: boolean
  /** temporary, admin_reset or expired */
  password_change_reason: string | null
  password_changed_at: string | null
  /** An operator set the quotas; tenants cannot change them */
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
}

export type EmailAccountDetail = {
  id: string
  domain_id: string
  /** Always that of the domain */
  organization_id: string
  email: string
  local_part: string
  external_id: string | null
  name: string | null
  status: "active" | "inactive" | "suspended"
  /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
  storage_quota: number
  /** Bytes */
  storage_used: number
  /** Bytes */
  attachment_storage_used: number
  /** Bytes */
  email_storage_used: number
  total_files: number
  total_attachments: number
  total_emails: number
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  forward_enabled: boolean
  forward_destination: string | null
  vacation_enabled: boolean
  vacation_message: string | null
  last_login: string | null
  last_activity: string | null
  last_storage_calculation: string | null
  must_change_password: boolean
  /** temporary, admin_reset or expired */
  password_change_reason: string | null
  password_changed_at: string | null
  /** An operator set the quotas; tenants cannot change them */
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  domain: Domain
  organization: Organization
}

export type EmailAccountListItem = {
  id: string
  domain_id: string
  /** Always that of the domain */
  organization_id: string
  email: string
  local_part: string
  external_id: string | null
  name: string | null
  status: "active" | "inactive" | "suspended"
  /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
  storage_quota: number
  /** Bytes */
  storage_used: number
  /** Bytes */
  attachment_storage_used: number
  /** Bytes */
  email_storage_used: number
  total_files: number
  total_attachments: number
  total_emails: number
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  forward_enabled: boolean
  forward_destination: string | null
  vacation_enabled: boolean
  vacation_message: string | null
  last_login: string | null
  last_activity: string | null
  last_storage_calculation: string | null
  must_change_password: boolean
  /** temporary, admin_reset or expired */
  password_change_reason: string | null
  password_changed_at: string | null
  /** An operator set the quotas; tenants cannot change them */
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  domain_name: string
  organization_name: string
}

export type EncryptedDelivery = {
  enabled: boolean
  method: "pgp" | "smime"
  /** The key or certificate that mail is encrypted to */
  fingerprint: string | null
  updated_at: string | null
}

export type Error = {
  type: "error"
  msg: string
  correlation_id: string
  /** Stable; to branch on */
  error_code?: string
  data?: Record<string, unknown>
}

export type FailedAuth = {
  id: string
  /** IPv4 address or IPv6 /64; empty when logins are counted by account alone */
  client_ip: string
  /** Null when logins are counted by IP address alone */
  username: string | null
  service: string
  failure_reason: string | null
  attempt_count: number
  blocked_until: string | null
  blocked: boolean
  first_attempt_at: string
  last_attempt_at: string
}

export type FeedbackLoop = {
  id: string
  /** The complaining recipient; empty if the provider omits it */
  original_recipient: string
  /** Address that the report was sent to */
  complaint_recipient: string | null
  organization_id: string
  isp_name: string
  feedback_type: string
  /** Message-ID without its angle brackets */
  email_id: string | null
  subject: string | null
  sender: string | null
  /** false: an operator has to review it */
  processed: boolean
  suppression_added: boolean
  created_at: string
  processed_at: string | null
}

export type FilterScript = {
  name: string
  content: string
  /** The script runs on incoming mail */
  active: boolean
  /** Size in bytes */
  size: number
  created_at: string | null
  /** Written by the mailbox holder's settings pages; cannot be changed here */
  managed: boolean
}

export type FilterTemplate = {
  id: string
  name: string
  description: string
  sieve_content: string
}

export type GeoPolicy = {
  id: string
  organization_id: string
  organization_name: string
  allowed_countries: Array<string>
  blocked_countries: Array<string>
  time_restrictions: {
    allowed_hours: {
      start: number
      end: number
    }
    /** Hours from UTC */
    timezone_offset: number
    /** Empty: every country */
    applies_to_countries: Array<string>
  } | null
  action: "block" | "challenge" | "log_only"
  enabled: boolean
  created_at: string
  updated_at: string
}

export type IpReputation = {
  id: string
  ip_address: string
  /** 0 to 100 */
  reputation_score: number
  total_connections: number
  total_messages: number
  spam_count: number
  bounce_count: number
  auth_failure_count: number
  first_seen: string
  last_seen: string
  is_blocked: boolean
  blocked_reason: string | null
  blocked_until: string | null
  updated_at: string
}

export type IpRule = {
  id: string
  organization_id: string
  organization_name: string
  rule_type: "whitelist" | "blacklist"
  /** An IP address, or a network in CIDR notation; host bits are cleared */
  ip_address: string
  /** smtp: sending mail; mailbox: IMAP, POP3, ManageSieve and the web sessions of mailboxes; api: API keys and dashboard sessions */
  applies_to: Array<"smtp" | "mailbox" | "api">
  description: string | null
  active: boolean
  created_by: string | null
  created_at: string
  updated_at: string
}

export type IssuedOauthClient = {
  client_id: string
  /** null: a client of the host, for the mailboxes of all */
  organization_id: string | null
  /** Shown to holders who sign in */
  name: string
  client_type: "confidential" | "public"
  /** Compared exactly. `https`; for public clients also `http` on loopback, where the port is free, and schemes of the program itself such as `com.example.mail:/signed-in` */
  redirect_uris: Array<string>
  grant_types: Array<"authorization_code" | "refresh_token" | "device_code" | "client_credentials">
  scopes: Array<string>
  /** Of `client_credentials`: the API key whose rights it has */
  key_id: string | null
  active: boolean
  created_by: string | null
  created_at: string
  updated_at: string
  /** Returned only in this response; null for a public client */
  client_secret: string | null
}

export type KeptMail = {
  user_email: string
  messages: number
  folders: Array<{
    /** The folder from which the messages were expunged */
    folder: string
    messages: number
    bytes: number
  }>
}

export type LegalHold = {
  id: number
  organization_id: string
  name: string
  description: string | null
  /** E-mail addresses; none means every address of the organization */
  custodians: Array<string>
  start_date: string
  end_date: string | null
  active: boolean
  created_by: string
  /** Since when the mail servers follow the last change of the hold; null: they do not yet */
  enforced_at: string | null
  created_at: string
}

export type LiveOperatorSession = {
  id: string
  ip_address: string
  user_agent: string | null
  mfa_satisfied: boolean
  created_at: string
  expires_at: string
  absolute_expiry: string
  revoked_at: string | null
  /** Not revoked and not expired */
  is_active: boolean
  operator_id: string
  operator_email: string
  operator_role: "support" | "operator" | "admin" | "owner"
  /** The session of this request */
  is_current: boolean
}

export type LogLine = {
  timestamp: string | null
  service: string
  level: string | null
  /** Secrets are redacted */
  message: string
  correlation_id: string | null
}

export type MailHost = {
  id: string
  name: string
  roles: Array<"proxy" | "backend" | "mx" | "submission" | "outbound">
  state: "active" | "draining" | "away"
  /** Name or IP address in the private network; outside of loopback its certificate has it */
  address: string
  /** IMAP with TLS */
  imap_port: number
  /** POP3 with TLS */
  pop3_port: number
  /** ManageSieve */
  sieve_port: number
  /** Deliveries of Postfix */
  lmtp_port: number
  /** Copies from other backends */
  sync_port: number
  /** Dovecot's HTTP administration interface */
  doveadm_url: string | null
  /** Mailboxes that are on this host */
  mailboxes: number
  /** Moves from and to this host that have not ended */
  open_moves: number
  /** Copies of moved mailboxes that wait for removal */
  old_copies: number
  created_at: string
  updated_at: string
}

export type MailServer = {
  protocol: "imap" | "pop3" | "smtp"
  host: string
  port: number
  encryption: "tls" | "starttls"
}

export type Mailbox = {
  id: string
  domain_id: string
  /** Always that of the domain */
  organization_id: string
  email: string
  local_part: string
  external_id: string | null
  name: string | null
  status: "active" | "inactive" | "suspended"
  /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
  storage_quota: number
  /** Bytes */
  storage_used: number
  /** Bytes */
  attachment_storage_used: number
  /** Bytes */
  email_storage_used: number
  total_files: number
  total_attachments: number
  total_emails: number
  /** Limits of the rate limiter */
  rate_limits: Record<string, unknown>
  /** Free-form */
  storage_quotas: Record<string, unknown>
  /** Counts of the rate limiter by direction, at most a minute old */
  rate_usage_data: Record<string, unknown> | null
  forward_enabled: boolean
  forward_destination: string | null
  vacation_enabled: boolean
  vacation_message: string | null
  last_login: string | null
  last_activity: string | null
  last_storage_calculation: string | null
  must_change_password: boolean
  /** temporary, admin_reset or expired */
  password_change_reason: string | null
  password_changed_at: string | null
  /** An operator set the quotas; tenants cannot change them */
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  domain_name: string
  stats: {
    message_count: number
    /** Bytes */
    total_size: number
  }
  quota_usage_percent: number
}

export type MailboxBlockedSenders = {
  /** In the order they were blocked */
  addresses: Array<string>
  /** false: the script was written by another program; saving replaces it */
  managed: boolean
  /** Folder that their mail goes to */
  folder: string
  /** Number of addresses that can be blocked */
  limit: number
}

export type MailboxCapabilities = {
  email_address: string
  capabilities: {
    /** Mail can be read over JMAP: the service runs, and the mail server answers */
    mail: boolean
    /** Mail can be sent over JMAP: `mail`, and the mail server takes messages */
    send: boolean
    settings: boolean
    two_factor: boolean
    app_passwords: boolean
    /** Programs that signed in through the browser */
    grants: boolean
    /** Own keys, and encrypted delivery */
    encryption: boolean
    /** The filter service answers; checked every minute */
    rules: boolean
    /** The filter service answers; checked every minute */
    forwarding: boolean
    /** The filter service answers; checked every minute */
    vacation: boolean
    ai: boolean
  }
}

export type MailboxForwarding = {
  enabled: boolean
  /** At most 5; the own address and what is no address are dropped */
  addresses: Array<string>
  /** A copy stays in this mailbox */
  keep_copy: boolean
  /** false: the script was written by another program; saving replaces it */
  managed: boolean
  /** Forwarded mail has no valid DKIM signature, because links of incoming mail are rewritten; other hosts may refuse it */
  loses_signatures: boolean
}

export type MailboxMove = {
  id: string
  mailbox_id: string
  organization_id: string
  email: string | null
  /** Name of the host */
  source: string
  /** Name of the host */
  target: string
  /** locked: logins and deliveries wait for the last copy; switched: the mailbox is on the new host, and the proxies are being notified */
  state: "waiting" | "copying" | "locked" | "switched" | "done" | "failed" | "cancelled"
  /** Counted on both hosts before the mailbox changed its host */
  messages: number | null
  /** Attempts that failed so far */
  attempts: number
  /** Reason that the last attempt failed */
  error_message: string | null
  /** Not continued before this time */
  due_at: string
  created_at: string
  finished_at: string | null
}

export type MailboxProfile = {
  email_address: string
  name: string | null
  /** Bytes */
  storage_used: number
  /** Bytes; of the domain where the mailbox has none of its own. 0 = no limit */
  storage_quota: number
  last_login: string | null
  /** Until the password is changed, other routes answer 403 */
  must_change_password: boolean
  password_change_reason: string | null
  /** For mail programs; the user name is the address */
  servers: Array<MailServer>
}

export type MailboxRule = {
  id: string
  name: string
  /** all or any */
  match: string
  conditions: Array<MailboxRuleCondition>
  actions: Array<MailboxRuleAction>
  enabled: boolean
}

export type MailboxRuleAction = {
  /** move, flag, mark_read, forward or discard; another type is stored and ignored */
  type?: string
  /** Folder of a move, address of a forward */
  value?: string | null
}

export type MailboxRuleCondition = {
  /** from, to, cc, subject or body; a condition on another field is stored and ignored */
  field?: string
  /** contains (default), is, or matches with the wildcards * and ? */
  operator?: string
  value?: string | null
}

export type MailboxRules = {
  rules: Array<MailboxRule>
  /** false: the script was written by another program; saving replaces it */
  managed: boolean
}

export type MailboxRulesOutcome = {
  /** From a blocked sender: goes to Junk, nothing else happens */
  blocked: boolean
  matched_rules: Array<{
    id: string
    name: string
  }>
  /** Empty when no copy stays */
  stored: Array<{
    folder: string
    flags: Array<string>
  }>
  forwarded_to: Array<string>
  discarded: boolean
  /** Unless this sender had one within the day, or the message is from a list */
  vacation_reply: boolean
}

export type MailboxSession = {
  id: string
  ip_address: string
  user_agent: string | null
  client_platform: string | null
  created_at: string
  expires_at: string
  absolute_expiry: string
  /** The session of this request */
  is_current: boolean
}

export type MailboxVacation = {
  enabled: boolean
  subject: string | null
  message: string | null
  /** For display; an enabled responder answers on every day */
  start_date: string | null
  /** For display; an enabled responder answers on every day */
  end_date: string | null
  /** false: the script was written by another program; saving replaces it */
  managed: boolean
}

/** Outcome of a message for one recipient */
export type Message = {
  id: string
  timestamp: string
  sender: string
  recipient: string
  subject: string | null
  /** delivered, bounced, deferred or rejected; queued for mail of the API that waits for the mail server; held for a message in quarantine, then released, deleted or expired */
  status: string
  message_id: string | null
  /** Bytes */
  size: number | null
  relay: string | null
  dsn: string | null
  spam_score: number | null
  bounce_reason: string | null
  /** NOQUEUE for mail refused before it was queued */
  queue_id: string | null
  /** The login that sent the message */
  login: string | null
  /** The SMTP credential of the login */
  credential_id: string | null
  direction: "outbound" | "inbound"
}

/** Decision of an operator about a held message */
export type MessageDecision = {
  id: string
  action: string
  created_at: string
}

/** Action of a recipient on a tracked message */
export type MessageEngagement = {
  id: string
  type: string
  recipient: string
  /** The link that was clicked */
  url: string | null
  /** By a scanner or a proxy, not by a person */
  automated: boolean
  created_at: string
}

export type MigrationError = {
  /** Empty for the whole job */
  folder: string
  /** Empty for the whole folder or job */
  message_uid: string
  message_id: string
  error_type: string
  error_message: string
  retryable: boolean
  retried: boolean
  created_at: string
}

export type MigrationJob = {
  job_id: string
  status: "pending" | "running" | "completed" | "failed" | "cancelled"
  direction: "import" | "export"
  source_host: string
  source_username: string
  target_email: string
  total_messages: number
  migrated_messages: number
  failed_messages: number
  current_folder: string | null
  /** Messages per second */
  speed: number
  is_delta: boolean
  is_retry: boolean
  parent_job_id: string | null
  /** Reason that the job failed */
  error: string | null
  started_at: string | null
  completed_at: string | null
  created_at: string
}

export type MonitoredService = {
  status: "up" | "degraded" | "down" | "error"
  protocol: string
  critical: boolean
  /** Milliseconds */
  response_time: number | null
  /** Milliseconds */
  check_duration: number
  error: string | null
  since: string
  timestamp: string
}

export type MtaSts = {
  domain: string
  /** testing: other hosts report problems and deliver; enforce: they deliver with verified TLS only */
  mode: "none" | "testing" | "enforce"
  /** In the policy now: `enforce` becomes `testing` while there are problems */
  served_mode: "none" | "testing" | "enforce"
  /** The file that other hosts fetch */
  policy: string
  /** The id for the record of `_mta-sts` */
  policy_id: string
  policy_url: string
  /** Reasons that `enforce` would lose mail */
  problems: Array<string>
  /** Last look at DNS under `enforce` */
  checked_at: string | null
}

export type NewAppPassword = {
  id: string
  name: string
  /** `imap` reads mail (POP3 too), `smtp` sends, `sieve` edits filters, `dav` is for calendars and contacts, `jmap` for JMAP programs */
  scopes: Array<"imap" | "smtp" | "sieve" | "dav" | "jmap">
  last_used_at: string | null
  last_used_service: string | null
  last_used_ip: string | null
  created_at: string
  /** Shown once */
  password: string
}

export type NewMailboxRule = {
  /** Assigned when absent */
  id?: string | null
  name?: string | null
  /** any, or all (default) */
  match?: string
  conditions?: Array<MailboxRuleCondition>
  actions?: Array<MailboxRuleAction>
  enabled?: boolean
}

export type OauthClient = {
  client_id: string
  /** null: a client of the host, for the mailboxes of all */
  organization_id: string | null
  /** Shown to holders who sign in */
  name: string
  client_type: "confidential" | "public"
  /** Compared exactly. `https`; for public clients also `http` on loopback, where the port is free, and schemes of the program itself such as `com.example.mail:/signed-in` */
  redirect_uris: Array<string>
  grant_types: Array<"authorization_code" | "refresh_token" | "device_code" | "client_credentials">
  scopes: Array<string>
  /** Of `client_credentials`: the API key whose rights it has */
  key_id: string | null
  active: boolean
  created_by: string | null
  created_at: string
  updated_at: string
}

export type OauthGrant = {
  grant_id: string
  client_id: string | null
  client_name: string
  user_email: string
  scopes: Array<string>
  last_used_at: string | null
  last_used_service: string | null
  last_used_ip: string | null
  created_at: string
}

export type Operator = {
  id: string
  email: string
  full_name: string
  role: "support" | "operator" | "admin" | "owner"
  is_active: boolean
  /** Always true */
  mfa_required: boolean
  mfa_enrolled: boolean
  last_login_at: string | null
  created_by: string | null
  created_by_email: string | null
  created_at: string
  active_session_count: number
}

export type OperatorSession = {
  id: string
  ip_address: string
  user_agent: string | null
  mfa_satisfied: boolean
  created_at: string
  expires_at: string
  absolute_expiry: string
  revoked_at: string | null
  /** Not revoked and not expired */
  is_active: boolean
}

export type Organization = {
  id: string
  external_id: string | null
  name: string
  description: string | null
  /** false: suspended; keys, sessions and mail stop, nothing is deleted */
  active: boolean
  admin_email: string | null
  admin_name: string | null
  /** Free-form */
  settings: Record<string, unknown>
  /** Free-form */
  rate_limits: Record<string, unknown>
  /** `storage_quota_mb` bounds the sum over the domains */
  storage_quotas: Record<string, unknown>
  webhook_urls: Array<string>
  sending_profile: string
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
} | null

export type OrganizationDetail = {
  id: string
  external_id: string | null
  name: string
  description: string | null
  /** false: suspended; keys, sessions and mail stop, nothing is deleted */
  active: boolean
  admin_email: string | null
  admin_name: string | null
  /** Free-form */
  settings: Record<string, unknown>
  /** Free-form */
  rate_limits: Record<string, unknown>
  /** `storage_quota_mb` bounds the sum over the domains */
  storage_quotas: Record<string, unknown>
  webhook_urls: Array<string>
  sending_profile: string
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  domains: Array<Domain>
  domain_count: number
  email_account_count: number
  storage_statistics: {
    total_storage_used: number
    total_quota: number
    usage_percentage: number
  }
}

export type OrganizationListItem = {
  id: string
  external_id: string | null
  name: string
  description: string | null
  /** false: suspended; keys, sessions and mail stop, nothing is deleted */
  active: boolean
  admin_email: string | null
  admin_name: string | null
  /** Free-form */
  settings: Record<string, unknown>
  /** Free-form */
  rate_limits: Record<string, unknown>
  /** `storage_quota_mb` bounds the sum over the domains */
  storage_quotas: Record<string, unknown>
  webhook_urls: Array<string>
  sending_profile: string
  quota_override: boolean
  quota_override_at: string | null
  quota_override_by: string | null
  created_at: string
  updated_at: string
  domain_count: number
  email_account_count: number
  /** Bytes */
  total_storage_used: number
  /** Bytes, summed over the domains */
  storage_quota: number
}

export type OrganizationNotice = {
  kind: "domain_unproven" | "domain_unverified" | "storage_full" | "mailbox_full" | "webhook_failing" | "credential_expiring" | "api_key_expiring"
  /** Of the domain, mailbox, endpoint, credential or key */
  id: string
  name: string
  /** Of the storage that is nearly full */
  used_percent: number | null
  /** Failed attempts of the endpoint in the last 24 hours */
  failed_deliveries: number | null
  expires_at: string | null
}

export type OrganizationOverview = {
  organization_id: string
  timezone: string
  /** One entry for each day, oldest first, messages by their last state. Days begin at a full hour */
  days: Array<{
    date: string
    /** Messages that logins of the organization sent */
    sent: number
    delivered: number
    bounced: number
    /** Not delivered yet; another attempt follows */
    deferred: number
    rejected: number
    /** Messages that reached a mailbox */
    received: number
  }>
  totals: {
    /** Messages that logins of the organization sent */
    sent: number
    delivered: number
    bounced: number
    /** Not delivered yet; another attempt follows */
    deferred: number
    rejected: number
    /** Messages that reached a mailbox */
    received: number
  }
  /** Outgoing messages of the last 5 days that wait */
  deferred_now: number
  domains: number
  mailboxes: number
  suspended_mailboxes: number
  storage: {
    used_bytes: number
    /** Sum of the quotas of the domains */
    quota_bytes: number
  }
  /** Things that need attention; at most 20 of each kind */
  attention: Array<OrganizationNotice>
  generated_at: string
}

export type OwnMessageTimeline = {
  message_id: string
  /** Every attempt and every hold, oldest first */
  deliveries: Array<Message>
  decisions: Array<MessageDecision>
  /** Opens, clicks and complaints, oldest first, at most 100 */
  engagement: Array<MessageEngagement>
}

export type OwnOperatorSession = {
  id: string
  ip_address: string
  user_agent: string | null
  mfa_satisfied: boolean
  created_at: string
  expires_at: string
  absolute_expiry: string
  revoked_at: string | null
  /** Not revoked and not expired */
  is_active: boolean
  /** The session of this request */
  is_current: boolean
}

export type PgpKey = {
  id: string
  organization_id: string
  /** null: the key of a correspondent */
  account_id: string | null
  email: string
  fingerprint: string
  user_id: string
  key_type: string
  /** In bits; null where the type says it */
  key_length: number | null
  has_private: boolean
  can_encrypt: boolean
  /** Mail to the address is encrypted to this key */
  preferred: boolean
  expires_at: string | null
  revoked: boolean
  created_at: string
  updated_at: string
  /** In ASCII armour */
  public_key: string
}

export type PgpKeyJob = {
  job_id: string
  email: string
  status: "running" | "completed" | "failed"
  fingerprint: string | null
  error: string | null
  created_at: string
}

export type PgpKeySummary = {
  id: string
  organization_id: string
  /** null: the key of a correspondent */
  account_id: string | null
  email: string
  fingerprint: string
  user_id: string
  key_type: string
  /** In bits; null where the type says it */
  key_length: number | null
  has_private: boolean
  can_encrypt: boolean
  /** Mail to the address is encrypted to this key */
  preferred: boolean
  expires_at: string | null
  revoked: boolean
  created_at: string
  updated_at: string
}

export type PgpPrivateKey = {
  fingerprint: string
  /** In ASCII armour */
  private_key: string
}

export type PlatformOverview = {
  services: {
    up: number
    total: number
    down: number
    unhealthy: Array<{
      name: string
      status: string
    }>
  } | null
  queue: {
    depth: number
    deferred: number
    oldest_age_seconds: number | null
  } | null
  organizations: {
    total: number
    active: number
    suspended: number
    delta_7d: number
  } | null
  domains: {
    total: number
    delta_7d: number
  } | null
  mailboxes: {
    total: number
    delta_7d: number
  } | null
  storage: {
    used_bytes: number
    quota_bytes: number
    used_percent: number
    top_consumers: Array<{
      domain: string
      used_bytes: number
    }>
  } | null
  certificates: {
    total: number
    expiring_30d: number
    expiring_7d: number
    soonest_expiry_days: number | null
  } | null
  quarantine: {
    pending: number
  } | null
  webhooks: {
    dead_letters: number
  } | null
  migrations: {
    failed: number
  } | null
  security: {
    failed_auth_24h: number
    denied_actions_24h: number
    failed_auth_series: Array<{
      hour: string
      count: number
    }>
  } | null
  volume_24h: Array<{
    hour: string
    sent: number
    received: number
    bounced: number
    deferred: number
  }> | null
  recent_actions: Array<{
    id: number
    operator_email: string | null
    action: string
    target_type: string | null
    target_id: string | null
    result: "success" | "failure"
    created_at: string
  }> | null
  /** Names of the blocks that are null */
  degraded: Array<string>
}

export type ProvisioningFailure = {
  resource_type: "mailbox" | "domain"
  id: string
  /** The e-mail address or the domain */
  name: string
  organization_id: string
  organization_name: string
  status: string
  error: string | null
  attempts: number
  created_at: string
  updated_at: string
}

export type PublicBrand = {
  host: string
  /** false: show the brand of the installation */
  is_branded: boolean
  /** The fields that are set */
  whitelabel: {
    logo_url?: string | null
    primary_color?: string | null
    secondary_color?: string | null
    brand_name?: string | null
    /** Sanitized before it is stored */
    login_page_html?: string | null
    /** Sanitized before it is stored */
    footer_html?: string | null
    favicon_url?: string | null
    support_email?: string | null
    support_url?: string | null
    /** Sanitized before it is stored */
    custom_css?: string | null
  }
}

export type QuarantinedMessage = {
  id: string
  organization_id: string | null
  message_id: string | null
  queue_id: string | null
  sender: string
  /** Of outgoing mail; null for mail that came in */
  login: string | null
  recipient: string
  subject: string | null
  reason: string
  spam_score: number | null
  virus_name: string | null
  rule_id: string | null
  headers: Record<string, unknown>
  status: string
  released_by: string | null
  released_at: string | null
  expires_at: string
  created_at: string
  threat_level: "low" | "medium" | "high" | "critical"
}

export type RagCollection = {
  /** rag_<organization>_<domain>_<name> */
  collection_id: string
  domain: string
  name: string
  description: string | null
  embedding_model: string
  document_count: number
  created_at: string
}

export type RagConfiguration = {
  organization_id: string
  enabled: boolean
  enabled_fields: Array<"subject" | "from" | "to" | "cc" | "body" | "attachments">
  chunk_size: number
  chunk_overlap: number
  embedding_provider: "lexical" | "sentence_transformers" | "huggingface" | "ollama" | "openai" | "azure_openai"
  embedding_model: string
  /** The second ranking method: embeddings of an endpoint, a local model, or similarity of words */
  mode: "embeddings" | "local_model" | "lexical"
  privacy_mode: boolean
  auto_index: boolean
  index_schedule: string
  next_scheduled_at: string | null
  max_documents: number
  mail_domains: Array<string>
  updated_at: string
}

export type RagDomainConfiguration = {
  domain: string
  index_mail: boolean
  organization_id: string
  enabled: boolean
  enabled_fields: Array<"subject" | "from" | "to" | "cc" | "body" | "attachments">
  chunk_size: number
  chunk_overlap: number
  embedding_provider: "lexical" | "sentence_transformers" | "huggingface" | "ollama" | "openai" | "azure_openai"
  embedding_model: string
  /** The second ranking method: embeddings of an endpoint, a local model, or similarity of words */
  mode: "embeddings" | "local_model" | "lexical"
  privacy_mode: boolean
  auto_index: boolean
  index_schedule: string
  next_scheduled_at: string | null
  max_documents: number
  mail_domains: Array<string>
  updated_at: string
}

export type RagSearch = {
  results: Array<{
    /** Of the document, mail or not */
    email_id: string
    collection_id: string
    source: "mail" | "api"
    mailbox: string | null
    folder: string | null
    message_id: string | null
    /** The id it was added with */
    document_id: string | null
    subject: string | null
    from: string | null
    to: string | null
    date: string | null
    has_attachment: boolean
    /** HTML: escaped text, what was found in <mark> */
    snippet: string
    /** 0 to 1; relative to the other results */
    score: number
  }>
  /** Number of results that were ranked and reach min_score */
  total: number
  query: string
  /** The ranking method: full_text alone, or combined with the method named here */
  mode: "embeddings" | "local_model" | "lexical" | "full_text"
}

export type RenderedTemplate = {
  subject: string
  html?: string
  plaintext?: string
}

export type ReplayedLetter = {
  id: number
  event_type: string
  /** The global URL is shown to platform callers only */
  endpoint_url: string
  status: "retrying"
  /** The next steps */
  note: string
}

export type ReplayedLetters = {
  replayed: Array<{
    id: number
    event_type: string
    /** The global URL is shown to platform callers only */
    endpoint_url: string
    status: "retrying"
  }>
  failed: Array<{
    /** As in the list; what is no number, as it was sent */
    id: number | string
    error: string
  }>
  /** Different ids in the request */
  requested: number
  /** The next steps */
  note: string
}

export type Report = {
  report_id: string
  report_type: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
  domain: string
  period_days: number
  status: "completed"
  /** The figures, as the route of that name answers */
  data: Record<string, unknown>
  generated_at: string
}

export type ReportSchedule = {
  schedule_id: string
  organization_id: string
  domain: string
  report_type: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
  interval: "daily" | "weekly" | "monthly"
  recipients: Array<string>
  timezone: string
  webhook_url: string | null
  created_at: string
  last_run_at: string | null
  /** Absent until the first run */
  last_error?: string | null
}

export type ResolvedLetter = {
  id: number
  status: "resolved"
  resolved_at: string
}

export type RestoredMail = {
  user_email: string
  messages: number
  folders: Array<{
    /** The folder from which the messages were expunged */
    folder: string
    messages: number
    bytes: number
  }>
  restored_to: string
}

export type RetentionPolicy = {
  id: string
  organization_id: string
  retention_days: number
  /** Retention deletes nothing */
  legal_hold: boolean
  auto_archive: boolean
  archive_after_days: number
  status: "scheduled" | "in_force"
  /** A stricter policy has a grace period of 7 days */
  applies_from: string
  /** The policy that applies today; null while no mail is deleted yet */
  in_force: {
    retention_days: number
    auto_archive: boolean
    archive_after_days: number
  } | null
  created_at: string
  updated_at: string
}

export type RetentionPreview = {
  retention_days: number
  auto_archive: boolean
  archive_after_days: number
  /** A hold on the whole organization keeps everything */
  on_hold: boolean
  /** Messages and rows that a run would delete or move today, by kind */
  counts: {
    messages_deleted: number
    messages_archived: number
  }
  mailboxes_counted: number
  /** Mailboxes that a legal hold keeps */
  mailboxes_held: number
  /** Send it as `after` for the next part; null: all are counted */
  next_after: string | null
}

export type RotatedSmtpCredential = {
  id: string
  organization_id: string
  domain_id: string
  /** SASL login, unique */
  username: string
  name: string | null
  /** First characters of a generated secret */
  prefix: string | null
  created_by: string | null
  allowed_ips: Array<string>
  ip_allowlist_enabled: boolean
  expires_at: string | null
  /** null inherits the organization's */
  hourly_limit: number | null
  /** null inherits the organization's */
  daily_limit: number | null
  /** false: its mail is not tracked, whatever the host does */
  tracking_enabled: boolean
  last_used_at: string | null
  /** false: revoked */
  active: boolean
  created_at: string
  updated_at: string
  /** Shown this once */
  secret: string
  /** The mail server has forgotten the cached login; repeat a revoke until it has */
  cache_flushed: boolean
}

export type RotatedWebhookSecret = {
  id: string
  /** Shown this once */
  secret: string
  previous_secret_until: string
}

export type SavedTemplate = {
  id: string
  organization_id: string
  name: string
  description: string | null
  category: "transactional" | "marketing" | "notification" | "general"
  subject_template: string
  variables: Array<string>
  /** SHA-256 of the texts */
  content_hash: string
  version: number
  /** Written once a second */
  render_count: number
  /** false: deleted */
  active: boolean
  created_at: string
  updated_at: string
  /** As its author wrote it */
  html_content: string
  /** The HTML of a template in MJML */
  compiled_html: string | null
  plaintext_content: string
  /** Links that a variable decides without the filter `url` */
  warnings: Array<string>
}

export type SharedMailbox = {
  id: string
  email: string
  name: string
  organization_id: string
  mailbox_type: "shared"
  status: "active" | "inactive"
  auto_reply_enabled: boolean
  auto_reply_message: string | null
  created_at: string
  updated_at: string
}

export type SharedMailboxDetail = {
  mailbox: SharedMailbox
  members: Array<{
    email_account_id: string
    member_email: string
    member_name: string | null
    permission: "full_access" | "send_as" | "send_on_behalf" | "read_only"
  }>
}

export type SharedMailboxListItem = {
  id: string
  email: string
  name: string
  organization_id: string
  status: "active" | "inactive"
  member_count: number
  created_at: string
}

export type SmimeCertificate = {
  id: string
  organization_id: string
  /** null: the certificate of a correspondent */
  account_id: string | null
  email: string
  /** SHA-256 of the certificate */
  fingerprint: string
  subject: string
  issuer: string
  serial: string
  key_type: string
  /** In bits */
  key_length: number
  has_private: boolean
  can_encrypt: boolean
  can_sign: boolean
  /** Mail to the address is encrypted to this certificate */
  preferred: boolean
  not_before: string
  expires_at: string
  created_at: string
  updated_at: string
  /** In PEM */
  certificate: string
  /** In PEM: certificates that were sent with it */
  chain: string
}

export type SmimeCertificateSummary = {
  id: string
  organization_id: string
  /** null: the certificate of a correspondent */
  account_id: string | null
  email: string
  /** SHA-256 of the certificate */
  fingerprint: string
  subject: string
  issuer: string
  serial: string
  key_type: string
  /** In bits */
  key_length: number
  has_private: boolean
  can_encrypt: boolean
  can_sign: boolean
  /** Mail to the address is encrypted to this certificate */
  preferred: boolean
  not_before: string
  expires_at: string
  created_at: string
  updated_at: string
}

export type SmimePrivateKey = {
  /** SHA-256 of the certificate */
  fingerprint: string
  /** PKCS #8 in PEM, locked with the passphrase */
  private_key: string
}

export type SmtpCredential = {
  id: string
  organization_id: string
  domain_id: string
  /** SASL login, unique */
  username: string
  name: string | null
  /** First characters of a generated secret */
  prefix: string | null
  created_by: string | null
  allowed_ips: Array<string>
  ip_allowlist_enabled: boolean
  expires_at: string | null
  /** null inherits the organization's */
  hourly_limit: number | null
  /** null inherits the organization's */
  daily_limit: number | null
  /** false: its mail is not tracked, whatever the host does */
  tracking_enabled: boolean
  last_used_at: string | null
  /** false: revoked */
  active: boolean
  created_at: string
  updated_at: string
}

export type SmtpCredentialEvent = {
  id: string
  credential_id: string
  organization_id: string
  /** SASL login, unique */
  username: string
  event: "created" | "updated" | "rotated" | "revoked" | "enabled" | "deleted" | "suspended"
  actor: string
  source_ip: string
  /** The changed fields of an update, as JSON text */
  detail: string | null
  created_at: string
}

export type SmtpCredentialUsage = {
  window_days: number
  since: string
  total: number
  delivered: number
  bounced: number
  deferred: number
  rejected: number
  /** Only what was seen */
  by_status: Record<string, number>
  /** Every day of the window, in UTC, oldest first; the first one in part */
  days: Array<{
    date: string
    delivered: number
    bounced: number
    deferred: number
    rejected: number
  }>
  last_used_at: string | null
}

export type StarterTemplate = {
  id: string
  name: string
  description: string
  category: "transactional" | "marketing" | "notification" | "general"
  subject: string
  /** MJML */
  html: string
  variables: Array<string>
}

export type SubOrganization = {
  id: string
  name: string
  parent_organization_id: string
  admin_email: string | null
  admin_name: string | null
  status: "active" | "inactive"
  plan: {
    max_users: number | null
    max_domains: number | null
    /** Bytes; null means no limit */
    storage_limit: number | null
    plan_name: string | null
  }
  domain_count: number
  user_count: number
  /** Bytes */
  storage_used: number
  created_at: string | null
  updated_at: string | null
}

export type Suppression = {
  id: string
  email: string
  organization_id: string
  suppression_type: string
  reason: string | null
  source: string | null
  bounce_type: string | null
  bounce_count: number
  active: boolean
  expires_at: string | null
  created_at: string
  updated_at: string
}

export type SwitchedSmtpCredential = {
  id: string
  organization_id: string
  domain_id: string
  /** SASL login, unique */
  username: string
  name: string | null
  /** First characters of a generated secret */
  prefix: string | null
  created_by: string | null
  allowed_ips: Array<string>
  ip_allowlist_enabled: boolean
  expires_at: string | null
  /** null inherits the organization's */
  hourly_limit: number | null
  /** null inherits the organization's */
  daily_limit: number | null
  /** false: its mail is not tracked, whatever the host does */
  tracking_enabled: boolean
  last_used_at: string | null
  /** false: revoked */
  active: boolean
  created_at: string
  updated_at: string
  /** The mail server has forgotten the cached login; repeat a revoke until it has */
  cache_flushed: boolean
}

export type SystemMailServer = {
  /** null: none is configured */
  host: string | null
  port: number
  /** TLS mode of the connection, as SMTP_TLS */
  tls: "opportunistic" | "starttls" | "true" | "false"
  /** Login at the server */
  user: string | null
}

export type Template = {
  id: string
  organization_id: string
  name: string
  description: string | null
  category: "transactional" | "marketing" | "notification" | "general"
  subject_template: string
  variables: Array<string>
  /** SHA-256 of the texts */
  content_hash: string
  version: number
  /** Written once a second */
  render_count: number
  /** false: deleted */
  active: boolean
  created_at: string
  updated_at: string
  /** As its author wrote it */
  html_content: string
  /** The HTML of a template in MJML */
  compiled_html: string | null
  plaintext_content: string
}

export type TemplateSummary = {
  id: string
  organization_id: string
  name: string
  description: string | null
  category: "transactional" | "marketing" | "notification" | "general"
  subject_template: string
  variables: Array<string>
  /** SHA-256 of the texts */
  content_hash: string
  version: number
  /** Written once a second */
  render_count: number
  /** false: deleted */
  active: boolean
  created_at: string
  updated_at: string
}

export type TemplateVersion = {
  id: string
  version: number
  content_hash: string
  author: string
  created_at: string
}

export type ThrottleEntry = {
  id: string
  /** Logins that are refused: all of an IP address, of an account, or of both together */
  kind: "ip" | "account" | "account_from_ip"
  /** IPv4 address or IPv6 /64 */
  client_ip: string | null
  username: string | null
  service: string
  /** Failed logins, or a block by an operator */
  origin: "failures" | "operator"
  /** Failed logins of this run */
  attempt_count: number
  blocked_until: string
  last_attempt_at: string
}

export type TlsReport = {
  id: string
  /** As the sender names itself */
  reporter: string
  report_id: string
  policy_type: "sts" | "tlsa" | "no-policy-found"
  starts_at: string
  ends_at: string
  /** Sessions */
  successful: number
  /** Sessions */
  failed: number
  /** Failed sessions by result type */
  failures: Record<string, number>
  received_at: string
}

export type TlsReports = {
  domain: string
  days: number
  report_count: number
  /** Sessions */
  successful: number
  /** Sessions */
  failed: number
  /** Most frequent first */
  failures: Array<{
    result_type: string
    /** Sessions */
    sessions: number
  }>
  /** The newest 100 */
  reports: Array<TlsReport>
}

export type TraceRow = {
  id: string
  timestamp: string
  sender: string
  recipient: string
  subject: string | null
  /** delivered, bounced, deferred or rejected; queued for mail of the API that waits for the mail server; held for a message in quarantine, then released, deleted or expired */
  status: string
  message_id: string | null
  /** Bytes */
  size: number | null
  relay: string | null
  dsn: string | null
  spam_score: number | null
  bounce_reason: string | null
  /** NOQUEUE for mail refused before it was queued */
  queue_id: string | null
  /** The login that sent the message */
  login: string | null
  /** The SMTP credential of the login */
  credential_id: string | null
  /** Of a message that was held back */
  quarantine_id: string | null
}

export type TrackingEvent = {
  id: string
  email_id: string | null
  recipient: string
  organization_id: string
  domain_id: string | null
  event_type: "delivered" | "opened" | "clicked" | "bounced" | "complained" | "unsubscribed"
  timestamp: string
  automated: boolean
  automated_reason: string | null
  url: string | null
  user_agent: string | null
  ip_address: string | null
  referer: string | null
  accept_language: string | null
  device_type: string | null
  browser: string | null
  operating_system: string | null
  country: string | null
  region: string | null
  city: string | null
  additional_data: Record<string, unknown> | null
}

export type TrailEvent = {
  id: string
  event_type: string
  event_source: string
  organization_id: string | null
  user_email: string | null
  client_ip: string | null
  severity: "info" | "warning" | "critical"
  details: Record<string, unknown> | null
  created_at: string
}

export type TransportRule = {
  id: string
  organization_id: string
  name: string
  description: string | null
  direction: "inbound" | "outbound" | "both"
  conditions: Array<{
    field: "sender" | "recipient" | "subject" | "header" | "size" | "has_attachment"
    operator: "equals" | "contains" | "starts_with" | "ends_with" | "regex" | "greater_than" | "less_than"
    /** Always a string. For `header`: `Name: text`. For `size`: bytes. For `has_attachment`: true or false */
    value: string
  }>
  condition_logic: "all" | "any"
  actions: Array<{
    type: "quarantine" | "add_header" | "modify_subject" | "redirect" | "bcc" | "reject" | "add_disclaimer"
    /** Parameters of the action; others are ignored */
    params: {
      /** add_header: name of the field */
      name?: string
      /** add_header: its text */
      value?: string
      /** modify_subject: added in front, once */
      prefix?: string
      /** modify_subject: added at the end, once */
      suffix?: string
      /** modify_subject: replaces the subject */
      replace?: string
      /** redirect, bcc: target e-mail address */
      address?: string
      /** reject: reply to the sender; ASCII */
      message?: string
      /** add_disclaimer: for plain text */
      text?: string
      /** add_disclaimer: for HTML; without it the text is used */
      html?: string
      /** add_disclaimer: start or end, which is the default */
      position?: string
      /** quarantine: reason, shown to operators */
      reason?: string
    }
  }>
  /** Rules with a lower number apply first */
  priority: number
  enabled: boolean
  /** Number of matched messages; updated about every second */
  hit_count: number
  created_at: string
  updated_at: string
}

export type Unavailable = {
  type: "error"
  msg: string
  correlation_id: string
  error: string
}

export type UpdatedSmtpCredential = {
  id: string
  organization_id: string
  domain_id: string
  /** SASL login, unique */
  username: string
  name: string | null
  /** First characters of a generated secret */
  prefix: string | null
  created_by: string | null
  allowed_ips: Array<string>
  ip_allowlist_enabled: boolean
  expires_at: string | null
  /** null inherits the organization's */
  hourly_limit: number | null
  /** null inherits the organization's */
  daily_limit: number | null
  /** false: its mail is not tracked, whatever the host does */
  tracking_enabled: boolean
  last_used_at: string | null
  /** false: revoked */
  active: boolean
  created_at: string
  updated_at: string
  /** The mail server has forgotten the cached login; repeat a revoke until it has */
  cache_flushed?: boolean
}

export type UrlClick = {
  id: string
  organization_id: string
  url: string
  url_domain: string
  scan_result: "safe" | "suspicious" | "blocked"
  reasons: Array<string>
  /** The /24 of an IPv4 address, the /64 of an IPv6 address */
  client_network: string
  clicked_at: string
}

export type UrlEntry = {
  id: string
  /** null: applies to all organizations */
  organization_id: string | null
  /** url: an address and everything below it; domain: a host and everything below it; pattern: a regular expression (RE2) on the whole address; allowlist: a host or address that always passes */
  entry_type: "url" | "domain" | "pattern" | "allowlist"
  entry: string
  reason: string | null
  created_by: string | null
  created_at: string
}

export type UrlFeedFile = {
  path: string
  entries: number
  /** Lines that are neither a host nor an address */
  unread_lines: number
  loaded_at: string | null
  /** Reason that the last reading failed; the one before applies */
  problem: string | null
}

export type UrlLinkKey = {
  id: number
  created_at: string
  retired_at: string | null
  /** Links of this key work until then */
  ends_at: string | null
}

export type UrlProtectionSettings = {
  /** Links of incoming mail lead over the check */
  enabled: boolean
  updated_at: string | null
}

export type UrlVerdict = {
  url: string
  verdict: "safe" | "suspicious" | "blocked"
  reasons: Array<"allowed_by_organization" | "blocked_by_organization" | "allowed_by_operator" | "blocked_by_operator" | "feed" | "dns_list" | "look_alike" | "mixed_scripts" | "ip_address" | "user_part" | "unreadable">
}

export type UserPolicy = {
  organization_id: string
  /** Users without a second factor can only set one up */
  require_two_factor: boolean
  users_without_two_factor: number
}

export type UserSession = {
  id: string
  ip_address: string
  user_agent: string | null
  created_at: string
  expires_at: string
  absolute_expiry: string
  /** The session of this request */
  is_current: boolean
}

export type ValidationError = {
  type: "error"
  msg: string
  correlation_id: string
  error_code?: string
  detail?: Array<{
    loc: Array<string | number>
    msg: string
    type: string
  }>
}

export type WarmUpSchedule = {
  ip_address: string
  /** null: all other organizations */
  organization_id: string | null
  /** Messages a day at the end of the warm-up */
  target_daily_volume: number
  warmup_days: number
  started_at: string
  paused_at: string | null
  /** From 1, in UTC */
  day: number
  /** Mail is not limited any more */
  completed: boolean
  stage: string
  /** Messages that may be delivered today */
  today_limit: number
  /** Messages that were delivered today */
  sent_today: number
  /** Handed to Postfix, without a result yet */
  under_way: number
  /** On hold in the queue until the limit allows them */
  waiting: number
}

export type WebhookDeadLetter = {
  id: number
  organization_id: string | null
  event_type: string
  /** null: the global URL */
  endpoint_id: string | null
  /** The global URL is shown to platform callers only */
  endpoint_url: string
  last_error: string
  attempt_count: number
  status: "pending" | "retrying" | "resolved" | "abandoned"
  created_at: string
  last_attempted_at: string | null
  resolved_at: string | null
}

export type WebhookDeadLetterDetail = {
  id: number
  organization_id: string | null
  event_type: string
  /** null: the global URL */
  endpoint_id: string | null
  /** The global URL is shown to platform callers only */
  endpoint_url: string
  last_error: string
  attempt_count: number
  status: "pending" | "retrying" | "resolved" | "abandoned"
  created_at: string
  last_attempted_at: string | null
  resolved_at: string | null
  /** The original envelope */
  payload: Record<string, unknown> | null
  /** Neither resolved nor abandoned, its event can still be had, and its endpoint is active */
  replayable: boolean
  /** Only when the payload cannot be used */
  payload_error?: string
}

export type WebhookDelivery = {
  /** Of one attempt */
  id: string
  /** The `id` of the envelope */
  event_id: string
  event_type: string
  /** null: the global URL */
  endpoint_id: string | null
  /** The global URL is shown to platform callers only */
  webhook_url: string
  delivery_status: "pending" | "delivered" | "failed" | "retrying" | "abandoned"
  /** 0: no answer in time, or no connection */
  http_status_code: number
  /** Number of this attempt, from 1 */
  attempts: number
  error_message: string | null
  created_at: string
  delivered_at: string | null
}

export type WebhookDeliveryDetail = {
  /** Of one attempt */
  id: string
  /** The `id` of the envelope */
  event_id: string
  event_type: string
  /** null: the global URL */
  endpoint_id: string | null
  /** The global URL is shown to platform callers only */
  webhook_url: string
  delivery_status: "pending" | "delivered" | "failed" | "retrying" | "abandoned"
  /** 0: no answer in time, or no connection */
  http_status_code: number
  /** Number of this attempt, from 1 */
  attempts: number
  error_message: string | null
  created_at: string
  delivered_at: string | null
  /** The envelope that was sent, without its signature; null once the event is deleted, and for the global URL unless the caller is the platform */
  payload: Record<string, unknown> | null
}

export type WebhookEndpoint = {
  id: string
  /** null: the platform's own */
  organization_id: string | null
  url: string
  name: string
  description: string
  active: boolean
  /** Empty: all of them. `email.*` means all that begin with `email.` */
  event_types: Array<string>
  created_at: string
  updated_at: string
}

export type WebhookEventType = {
  name: string
  source: string
  summary: string
  /** This installation emits it; otherwise only another service can */
  has_producer: boolean
  /** The name is taken and nothing is expected to emit it */
  reserved: boolean
  /** Example of `data` in the envelope */
  example: Record<string, unknown>
  /** JSON Schema of `data` */
  data_schema: Record<string, unknown>
}

export type WhitelabelConfig = {
  organization_id: string
  /** The fields that are set */
  whitelabel: {
    logo_url?: string | null
    primary_color?: string | null
    secondary_color?: string | null
    brand_name?: string | null
    custom_domain?: string | null
    /** Sanitized before it is stored */
    login_page_html?: string | null
    /** Sanitized before it is stored */
    footer_html?: string | null
    favicon_url?: string | null
    support_email?: string | null
    support_url?: string | null
    /** Sanitized before it is stored */
    custom_css?: string | null
  }
  domain_verified_at: string | null
  updated_at: string | null
}

export type WholeTemplateVersion = {
  id: string
  version: number
  content_hash: string
  author: string
  created_at: string
  subject_template: string
  html_content: string
  compiled_html: string | null
  plaintext_content: string
  variables: Array<string>
}

export interface Get {
  /** Activity in the organization, newest first. Key(read) */
  '/activity/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** event: what happened; operator: what an operator changed */
      kind?: "event" | "operator"
      /** Exact, or a family of events such as `mailbox.*` */
      action?: string
      /** Part of action or subject */
      q?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** For platform callers; a tenant always gets its own */
      organization_id?: string
    }
    data: {
      items: Array<Activity>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an alias by id or source, or a page of all of them (`all`). Key(read) */
  '/aliases/get/{alias_id}': {
    params: {
      /** An id, a source, or `all` for a page of the active ones */
      alias_id: string
    }
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Platform callers only */
      organization_id?: string
      sort_by?: "source" | "created_at"
      sort_dir?: "asc" | "desc"
      /** Part of source or destination */
      q?: string
      /** Name of the domain */
      domain?: string
      /** `any` lists active and inactive ones */
      active?: boolean | "any"
    }
    data: Array<Alias>
  }
  /** Aliases of a domain in numbers. Key(read) */
  '/aliases/get/stats/{domain}': {
    params: {
      domain: string
    }
    data: AliasStats
  }
  /** Delivery results, opens and clicks of a domain. Key(read) */
  '/analytics/dashboard/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Back from now; 30 unless given */
      days?: number
      /** ISO date or datetime from which on, instead of days */
      start?: string
      /** ISO date or datetime; a date means the end of that day */
      end?: string
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: {
      domain: string
      period_days: number
      total_sent: number
      delivered: number
      bounced: number
      /** Rejected, or deferred and not delivered since */
      failed: number
      /** Delivery attempts for them, with every retry */
      attempts: number
      opened: number
      clicked: number
      complained: number
      unsubscribed: number
      generated_at: string
    }
  }
  /** Rates of bounces and complaints of the mail of a domain. Key(read) */
  '/analytics/deliverability/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Back from now; 30 unless given */
      days?: number
      /** ISO date or datetime from which on, instead of days */
      start?: string
      /** ISO date or datetime; a date means the end of that day */
      end?: string
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: {
      domain: string
      period_days: number
      total_sent: number
      bounced: number
      /** Percent */
      bounce_rate: number
      complaints: number
      /** Percent */
      complaint_rate: number
      average_spam_score: number
      /** Signing is on and there is a key */
      dkim_configured: boolean
      dkim_selector: string
      /** Not measured */
      spf_pass_rate: number | null
      /** Not measured */
      dmarc_pass_rate: number | null
      /** Not measured */
      inbox_placement_estimate: number | null
      generated_at: string
    }
  }
  /** Mail of a domain by day, in both directions. Key(read) */
  '/analytics/email-volume/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Back from now; 30 unless given */
      days?: number
      /** ISO date or datetime from which on, instead of days */
      start?: string
      /** ISO date or datetime; a date means the end of that day */
      end?: string
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: {
      domain: string
      period_days: number
      /** Days without mail are absent */
      volume: Array<{
        date: string
        outbound: number
        inbound: number
      }>
      generated_at: string
    }
  }
  /** Rates of opens and clicks of the mail of a domain. Key(read) */
  '/analytics/engagement/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Back from now; 30 unless given */
      days?: number
      /** ISO date or datetime from which on, instead of days */
      start?: string
      /** ISO date or datetime; a date means the end of that day */
      end?: string
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: {
      domain: string
      period_days: number
      delivered: number
      opens: number
      clicks: number
      /** Recipients who opened */
      unique_opens: number
      /** Recipients who clicked */
      unique_clicks: number
      /** Percent */
      open_rate: number
      /** Percent */
      click_rate: number
      /** Percent */
      click_to_open_rate: number
      /** Not measured */
      reply_rate: number | null
      /** Not measured */
      average_read_time_seconds: number | null
      generated_at: string
    }
  }
  /** Health of the access to the figures. Key(read) */
  '/analytics/health': {
    data: {
      status: "healthy"
      service: "analytics"
    }
  }
  /** The dashboard of a domain with its storage and mailboxes. Key(read) */
  '/analytics/metrics/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Back from now; 30 unless given */
      days?: number
      /** ISO date or datetime from which on, instead of days */
      start?: string
      /** ISO date or datetime; a date means the end of that day */
      end?: string
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: {
      domain: string
      period_days: number
      total_sent: number
      delivered: number
      bounced: number
      /** Rejected, or deferred and not delivered since */
      failed: number
      /** Delivery attempts for them, with every retry */
      attempts: number
      opened: number
      clicked: number
      complained: number
      unsubscribed: number
      storage_used_bytes: number
      storage_quota_bytes: number
      active_email_accounts: number
      max_email_accounts: number
      lifetime_emails: number
      lifetime_attachments: number
      generated_at: string
    }
  }
  /** Get a report that was generated. Key(read) */
  '/analytics/reports/{report_id}': {
    params: {
      report_id: string
    }
    data: Report
  }
  /** Reports that are sent at intervals. Key(read) */
  '/analytics/reports/scheduled': {
    query?: {
      /** For platform callers; a tenant always gets its own */
      organization_id?: string
    }
    data: {
      schedules: Array<ReportSchedule>
      count: number
    }
  }
  /** List API keys, newest first, without their secrets. Key(read) */
  '/api-keys/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** For platform callers */
      organization_id?: string
      /** Part of the name or of the key_id */
      q?: string
      status?: "active" | "expired" | "revoked"
    }
    data: {
      items: Array<ApiKey>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an API key, without its secret. Key(read) */
  '/api-keys/{key_id}': {
    params: {
      key_id: string
    }
    data: ApiKey
  }
  /** Metadata of an archived message. Key(read) */
  '/archive/{archive_id}': {
    params: {
      archive_id: string
    }
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    data: ArchivedMessage
  }
  /** List imports and re-keying, newest first. Key(read) */
  '/archive/jobs': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    data: {
      items: Array<ArchiveJob>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Progress of an import or of re-keying. Key(read) */
  '/archive/jobs/{archive_job_id}': {
    params: {
      archive_job_id: string
    }
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    data: ArchiveJob
  }
  /** Search the metadata of archived messages, newest first. Key(read) */
  '/archive/search': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
      /** Beginnings of words of subject and addresses */
      q?: string
      /** Beginnings of words of the subject */
      subject?: string
      /** Exact */
      sender?: string
      /** Exact */
      recipient?: string
      /** Exact */
      message_id?: string
      direction?: "inbound" | "outbound"
      /** ISO date or datetime */
      start_date?: string
      /** ISO date or datetime */
      end_date?: string
    }
    data: {
      items: Array<ArchivedMessage>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Settings, key and size of the archive of an organization. Key(read) */
  '/archive/settings': {
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    data: ArchiveSettings
  }
  /** Messages that wait for their upload, and the last check of the archive. Operator(support+) */
  '/archive/spool': {
    data: ArchiveSpoolStatus
  }
  /** The page of an invitation or a password reset; it changes nothing by itself. None */
  '/auth/link': {
    data: undefined
  }
  /** Get the user and the organization of the caller. Key or session */
  '/auth/me': {
    data: {
      user: {
        id: string
        email: string
        /** owner, admin or read_only; an operator has a role of the platform */
        role: string
        organization_id: string | null
      } | null
      organization: {
        id: string
        name: string
      } | null
      capabilities: CapabilityManifest
      auth_method: "session" | "api_key"
    }
  }
  /** List the own live sessions, newest first. Dashboard session */
  '/auth/sessions': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<UserSession>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get the state of the own second factor. Dashboard session */
  '/auth/two-factor': {
    data: {
      enabled: boolean
      /** Set up, but not confirmed with a code */
      pending: boolean
      /** The organization requires a second factor */
      required: boolean
      enabled_at: string | null
      backup_codes_left: number
    }
  }
  /** Get what the first run still has to create. None */
  '/bootstrap/': {
    data: {
      /** open: a bootstrap token creates the first one */
      organization: "open" | "done"
      /** open: a bootstrap token creates the first one */
      operator: "open" | "done"
      /** Files of the tokens on the host of the server; null once the step is done */
      token_files: {
        organization: string | null
        operator: string | null
      }
    }
  }
  /** List the address books of a mailbox or shared mailbox. Key(read) */
  '/caldav/addressbooks/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    data: {
      items: Array<{
        id: string
        /** As programs show it */
        name: string
        /** Path at which programs find it; null for those of a shared mailbox */
        path: string | null
        /** Components that a calendar takes, such as VEVENT; empty for an address book */
        components: Array<string>
        object_count: number
        bytes: number
        created_at: string
      }>
    }
  }
  /** List the calendars and task lists of a mailbox or shared mailbox. Key(read) */
  '/caldav/calendars/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    data: {
      items: Array<{
        id: string
        /** As programs show it */
        name: string
        /** Path at which programs find it; null for those of a shared mailbox */
        path: string | null
        /** Components that a calendar takes, such as VEVENT; empty for an address book */
        components: Array<string>
        object_count: number
        bytes: number
        created_at: string
      }>
    }
  }
  /** List the contacts of a mailbox or shared mailbox. Key(read) */
  '/caldav/contacts/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<{
        /** Name of the object in its address book */
        id: string
        address_book_id: string
        uid: string
        name: string
        email_addresses: Array<string>
        phone_numbers: Array<string>
        updated_at: string
      }>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** URLs at which programs find calendars and contacts. Key(read) */
  '/caldav/discovery': {
    data: {
      caldav_url: string
      carddav_url: string
      well_known: Array<string>
      /** Name that programs log in with */
      login: string
    }
  }
  /** Get the capabilities of this deployment. None */
  '/capabilities/': {
    data: CapabilityManifest
  }
  /** List compliance actions, newest first. Operator(support+) */
  '/compliance/audit-log': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      action?: string
      /** Exact */
      user_email?: string
      /** Exact */
      ip_address?: string
      /** ISO date or datetime, inclusive */
      start_date?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      end_date?: string
    }
    data: {
      items: Array<ComplianceAuditRow>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the consents of a person. Operator(admin+) */
  '/compliance/consent/{user_email}': {
    params: {
      user_email: string
    }
    data: {
      user_email: string
      items: Array<Consent>
    }
  }
  /** List the newest erasures of a person with the counts of removed items. Operator(admin+) */
  '/compliance/data-erasure/{user_email}/status': {
    params: {
      user_email: string
    }
    data: {
      items: Array<DataErasure>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Download the archive. Operator(owner+) */
  '/compliance/data-export/{user_email}/download/{export_id}': {
    params: {
      user_email: string
      export_id: string
    }
    data: undefined
  }
  /** List the ten newest exports of a person. Operator(admin+) */
  '/compliance/data-export/{user_email}/status': {
    params: {
      user_email: string
    }
    data: {
      items: Array<DataExport>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Count the messages that a legal hold keeps after their holder expunged them. Operator(admin+) */
  '/compliance/kept-mail/{user_email}': {
    params: {
      user_email: string
    }
    data: KeptMail
  }
  /** List legal holds, newest first. Operator(admin+) */
  '/compliance/legal-holds': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      organization_id?: string
      active?: boolean
      /** Part of name or description */
      q?: string
    }
    data: {
      items: Array<LegalHold>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Check whether a legal hold covers an e-mail address. Operator(admin+) */
  '/compliance/legal-holds/check/{user_email}': {
    params: {
      user_email: string
    }
    data: {
      user_email: string
      on_hold: boolean
      holds: Array<{
        id: number
        name: string
        organization_id: string
        end_date: string | null
      }>
    }
  }
  /** List retention policies, newest first. Operator(admin+) */
  '/compliance/retention-policies': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      organization_id?: string
    }
    data: {
      items: Array<RetentionPolicy>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Count what a retention policy would delete and move today. Operator(admin+) */
  '/compliance/retention-policies/{organization_id}/preview': {
    params: {
      organization_id: string
    }
    query?: {
      /** Unless given, of the stored policy */
      retention_days?: number
      /** Unless given, of the stored policy */
      auto_archive?: boolean
      /** Unless given, of the stored policy */
      archive_after_days?: number
      /** `next_after` of the previous part */
      after?: string
    }
    data: RetentionPreview
  }
  /** List domains. Key(read) */
  '/domains/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      sort_by?: "domain" | "created_at" | "total_storage_used"
      sort_dir?: "asc" | "desc"
      /** Part of the name */
      q?: string
      /** Platform callers only */
      organization_id?: string
      active?: boolean
    }
    data: {
      items: Array<DomainListItem>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a domain with its DNS records, organization and first 50 mailboxes. Key(read) */
  '/domains/{domain_id}': {
    params: {
      domain_id: string
    }
    data: DomainDetail
  }
  /** DKIM keys of a domain, the signing one first. Operator(support+) */
  '/domains/{domain_id}/dkim': {
    params: {
      domain_id: string
    }
    data: {
      domain: string
      domain_id: string
      dkim_enabled: boolean
      signing_selector: string
      items: Array<DkimKey>
      total: number
    }
  }
  /** DKIM keys of an own domain, the signing one first, with the record of each. Key(read) */
  '/domains/{domain_id}/dkim-keys': {
    params: {
      domain_id: string
    }
    data: {
      domain: string
      domain_id: string
      dkim_enabled: boolean
      signing_selector: string
      items: Array<DkimKey>
      total: number
    }
  }
  /** Results of the DNS checks of a domain and since when they hold, newest first. Key(read) */
  '/domains/{domain_id}/dns-checks': {
    params: {
      domain_id: string
    }
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<DnsChange>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Everything that a well-run domain publishes, also as a zone file. Key(read) */
  '/domains/{domain_id}/dns-records': {
    params: {
      domain_id: string
    }
    query?: {
      /** Look up every record and show what DNS has */
      check?: boolean
    }
    data: DnsRecords
  }
  /** The MTA-STS policy of a domain. Key(read) */
  '/domains/{domain_id}/mta-sts': {
    params: {
      domain_id: string
    }
    data: MtaSts
  }
  /** Get the quotas and the usage of a domain. Key(read) */
  '/domains/{domain_id}/quotas': {
    params: {
      domain_id: string
    }
    data: {
      domain_id: string
      domain: string
      max_quota: number
      max_users: number
      storage_used: number
      usage_percentage: number
      account_usage_percentage: number
      /** As stored */
      rate_limits: Record<string, unknown>
      /** As stored */
      storage_quotas: Record<string, unknown>
      quota_override: boolean
      quota_override_at: string | null
      quota_override_by: string | null
      email_accounts: Array<{
        id: string
        email: string
        storage_quota: number
        storage_used: number
        usage_percentage: number
      }>
    }
  }
  /** Reports of other hosts about TLS of their deliveries to a domain (TLS-RPT). Key(read) */
  '/domains/{domain_id}/tls-reports': {
    params: {
      domain_id: string
    }
    query?: {
      days?: number
    }
    data: TlsReports
  }
  /** Compare the published DNS records with what they should be; proves the ownership. Key(read) */
  '/domains/{domain_id}/verify-dns': {
    params: {
      domain_id: string
    }
    data: {
      domain: string
      /** Ownership is proven and all four records pass now */
      verified: boolean
      verified_at: string | null
      ownership_verified_at: string | null
      verification: {
        mx: DnsCheck
        spf: DnsCheck
        dkim: DnsCheck
        dmarc: DnsCheck
        ownership: DnsCheck
      }
      /** Everything to publish and what DNS has of it; `verified` needs only the five above */
      records: Array<ComparedDnsRecord>
    }
  }
  /** Spam policy of a domain. Key(read) */
  '/domains/get/domain/policy/{domain}': {
    params: {
      domain: string
    }
    data: {
      domain: string
      active: boolean
      /** 0 or 1; null when never set */
      policy_bl_only: number | null
      /** 0 or 1; null when never set */
      policy_reject_spam: number | null
      /** 0 or 1; null when never set */
      policy_greylist: number | null
      /** 0 or 1; null when never set */
      policy_rbl: number | null
      /** As stored */
      rate_limits: Record<string, unknown>
    }
  }
  /** Get the mailbox and alias counts of a domain. Key(read) */
  '/domains/stats/{domain}': {
    params: {
      domain: string
    }
    data: {
      domain: string
      /** Active ones */
      mailbox_count: number
      /** Active ones */
      alias_count: number
      /** Bytes in active mailboxes */
      total_quota_used: number
      domain_details: Domain
    }
  }
  /** Progress of the generation of a large key; kept for a day. Key(read) */
  '/encryption/pgp/jobs/{job_id}': {
    params: {
      job_id: string
    }
    query?: {
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: PgpKeyJob
  }
  /** OpenPGP keys of mailboxes and correspondents, newest first. Key(read) */
  '/encryption/pgp/keys': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      items: Array<PgpKeySummary>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a key with its public part. Key(read) */
  '/encryption/pgp/keys/{fingerprint}': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: PgpKey
  }
  /** S/MIME certificates of mailboxes and correspondents, newest first. Key(read) */
  '/encryption/smime/certs': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      items: Array<SmimeCertificateSummary>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a certificate in PEM. Key(read) */
  '/encryption/smime/certs/{fingerprint}': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: SmimeCertificate
  }
  /** List the scripts of a mailbox, sorted by name. Key(read) */
  '/filters/': {
    query: {
      /** E-mail address of the mailbox */
      email: string
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<FilterScript>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a script of a mailbox. Key(read) */
  '/filters/{name}': {
    params: {
      name: string
    }
    query: {
      /** E-mail address of the mailbox */
      email: string
    }
    data: FilterScript
  }
  /** List the script templates. Key(read) */
  '/filters/templates': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<FilterTemplate>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the own app passwords, newest first. Mailbox session */
  '/mailbox/app-passwords': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<AppPassword>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** A profile that sets up the own mailbox on iPhone, iPad and Mac; without a password. Mailbox session */
  '/mailbox/apple-profile': {
    data: undefined
  }
  /** Senders whose mail goes to the Junk folder. Mailbox session */
  '/mailbox/blocked-senders': {
    data: MailboxBlockedSenders
  }
  /** Capabilities available to this mailbox; hide everything else. Mailbox session */
  '/mailbox/capabilities': {
    data: MailboxCapabilities
  }
  /** Encryption of incoming mail to the own key or certificate. Mailbox session */
  '/mailbox/encryption/delivery': {
    data: EncryptedDelivery
  }
  /** Progress of the generation of an own large key; kept for a day. Mailbox session */
  '/mailbox/encryption/pgp/jobs/{job_id}': {
    params: {
      job_id: string
    }
    data: PgpKeyJob
  }
  /** The own OpenPGP keys, newest first. Mailbox session */
  '/mailbox/encryption/pgp/keys': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<PgpKeySummary>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** An own key with its public part. Mailbox session */
  '/mailbox/encryption/pgp/keys/{fingerprint}': {
    params: {
      fingerprint: string
    }
    data: PgpKey
  }
  /** An own private key, locked with its passphrase, for other programs. Mailbox session */
  '/mailbox/encryption/pgp/keys/{fingerprint}/private': {
    params: {
      fingerprint: string
    }
    data: PgpPrivateKey
  }
  /** The own S/MIME certificates, newest first. Mailbox session */
  '/mailbox/encryption/smime/certs': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<SmimeCertificateSummary>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** An own certificate in PEM. Mailbox session */
  '/mailbox/encryption/smime/certs/{fingerprint}': {
    params: {
      fingerprint: string
    }
    data: SmimeCertificate
  }
  /** An own private key, locked with its passphrase, for other programs. Mailbox session */
  '/mailbox/encryption/smime/certs/{fingerprint}/private': {
    params: {
      fingerprint: string
    }
    data: SmimePrivateKey
  }
  /** Forwarding of this mailbox. Mailbox session */
  '/mailbox/forwarding': {
    data: MailboxForwarding
  }
  /** List the programs with access to the own mailbox, newest first. Mailbox session */
  '/mailbox/grants': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<OauthGrant>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** The own mailbox: name, storage, last sign-in, settings for mail programs. Mailbox session */
  '/mailbox/profile': {
    data: MailboxProfile
  }
  /** Rules of this mailbox, in the order they run. Mailbox session */
  '/mailbox/rules': {
    data: MailboxRules
  }
  /** List the own live sessions, newest first. Mailbox session */
  '/mailbox/sessions': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<MailboxSession>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** State of the second factor of the own login. Mailbox session */
  '/mailbox/two-factor': {
    data: {
      enabled: boolean
      /** Set up, but not confirmed with a code yet */
      pending: boolean
      enabled_at: string | null
      backup_codes_left: number
    }
  }
  /** The vacation responder of this mailbox. Mailbox session */
  '/mailbox/vacation': {
    data: MailboxVacation
  }
  /** List mailboxes. Key(read) */
  '/mailboxes/email-accounts': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      sort_by?: "email" | "created_at" | "storage_used" | "last_login"
      sort_dir?: "asc" | "desc"
      /** Part of the address or the name */
      q?: string
      /** Platform callers only */
      organization_id?: string
      domain_id?: string
      status?: "active" | "inactive" | "suspended"
    }
    data: {
      items: Array<EmailAccountListItem>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a mailbox with its domain and organization. Key(read) */
  '/mailboxes/email-accounts/{account_id}': {
    params: {
      account_id: string
    }
    data: EmailAccountDetail
  }
  /** Get the quotas and the usage of a mailbox. Key(read) */
  '/mailboxes/email-accounts/{account_id}/quotas': {
    params: {
      account_id: string
    }
    data: {
      account_id: string
      email: string
      /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
      storage_quota: number
      /** Bytes */
      storage_used: number
      /** Bytes */
      attachment_storage_used: number
      /** Bytes */
      email_storage_used: number
      usage_percentage: number
      total_files: number
      total_attachments: number
      total_emails: number
      /** As stored */
      rate_limits: Record<string, unknown>
      /** As stored */
      storage_quotas: Record<string, unknown>
      last_storage_calculation: string | null
      /** 80 percent or more is used */
      over_threshold: boolean
      quota_override: boolean
      quota_override_at: string | null
      quota_override_by: string | null
    }
  }
  /** Get the state of the holder's second factor. Key(read) */
  '/mailboxes/email-accounts/{account_id}/two-factor': {
    params: {
      account_id: string
    }
    data: {
      account_id: string
      enabled: boolean
      enabled_at: string | null
      backup_codes_left: number
    }
  }
  /** Get a mailbox, or all active ones (older route). Key(read) */
  '/mailboxes/get/{mailbox_id}': {
    params: {
      /** An address, an id, or `all` for every active mailbox */
      mailbox_id: string
    }
    query?: {
      /** Platform callers only; narrows `all` */
      organization_id?: string
    }
    data: Array<Mailbox>
  }
  /** Get the quota and the usage of a mailbox (older route). Key(read) */
  '/mailboxes/get/quota/{mailbox}': {
    params: {
      /** The address */
      mailbox: string
    }
    data: {
      email: string
      /** Bytes; 0 = the domain's applies */
      storage_quota: number
      storage_used: number
      usage_percent: number
      /** Bytes; of the domain where the mailbox has no limit of its own */
      available: number | null
      folder_breakdown: Array<Record<string, unknown>>
    }
  }
  /** Messages and sign-ins of a mailbox (older route). Key(read) */
  '/mailboxes/get/stats/{mailbox}': {
    params: {
      /** The address */
      mailbox: string
    }
    data: {
      mailbox_info: {
        email: string
        created: string
        last_login: string | null
        storage_quota: number
        storage_used: number
      }
      /** null: only the mail store knows */
      message_stats: {
        total_messages: number
        unread_messages: number | null
        /** Bytes */
        avg_message_size: number
        largest_message_size: number | null
        oldest_message: string | null
        newest_message: string | null
      }
      /** Sign-ins of the holder to this API in the last 30 days */
      login_stats: {
        total_logins: number
        last_login: string | null
        unique_ips: number
      }
    }
  }
  /** Actions of operators and failed logins, newest first. Operator(support+) */
  '/message-trace/audit': {
    query?: {
      /** Exact */
      event_type?: string
      /** Exact: console, api, or the service of a failed login */
      event_source?: string
      /** Exact */
      organization_id?: string
      /** Exact */
      user_email?: string
      /** Exact */
      client_ip?: string
      severity?: "info" | "warning" | "critical"
      /** ISO date or datetime, inclusive */
      start_date?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      end_date?: string
      limit?: number
      /** Rows to skip */
      offset?: number
    }
    data: Array<TrailEvent>
  }
  /** Senders that were blocked with a quarantined message, newest first. Operator(support+) */
  '/message-trace/blocked-senders': {
    query?: {
      /** Exact */
      organization_id?: string
      /** Part of the sender */
      q?: string
      limit?: number
      /** Rows to skip */
      offset?: number
    }
    data: {
      blocked_senders: Array<BlockedSender>
      total: number
      limit: number
      offset: number
    }
  }
  /** Messages that are held back, newest first. Operator(support+) */
  '/message-trace/quarantine': {
    query?: {
      /** Exact */
      organization_id?: string
      status?: "quarantined" | "released" | "deleted" | "expired"
      reason?: "spam" | "virus" | "policy" | "transport_rule" | "admin"
      /** Part of sender, recipient or subject */
      q?: string
      limit?: number
      /** Rows to skip */
      offset?: number
    }
    data: {
      messages: Array<QuarantinedMessage>
      total: number
      limit: number
      offset: number
    }
  }
  /** Delivery results of messages and messages that are held back, newest first. Operator(support+) */
  '/message-trace/trace': {
    query?: {
      /** An address, or a part of one, which takes longer */
      sender?: string
      /** An address, or a part of one, which takes longer */
      recipient?: string
      /** A part of it, in any case */
      subject?: string
      status?: "delivered" | "bounced" | "deferred" | "rejected" | "held"
      /** Exact, with or without angle brackets */
      message_id?: string
      /** Exact */
      organization_id?: string
      /** The login that sent the message: a mailbox or an SMTP credential; exact, in any case */
      login?: string
      /** ISO date or datetime, inclusive */
      start_date?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      end_date?: string
      limit?: number
      /** Rows to skip */
      offset?: number
    }
    data: Array<TraceRow>
  }
  /** Everything that happened to one message, in order. Operator(support+) */
  '/message-trace/trace/{msg_id}': {
    params: {
      /** Message-ID, with or without angle brackets */
      msg_id: string
    }
    data: {
      message_id: string
      deliveries: Array<TraceRow>
      audit_events: Array<TrailEvent>
    }
  }
  /** Messages of the organization and their last state, newest first. Key(read) */
  '/messages/': {
    query?: {
      /** An address, or a part of one, which takes longer */
      sender?: string
      /** An address, or a part of one, which takes longer */
      recipient?: string
      /** A part of it, in any case */
      subject?: string
      status?: "delivered" | "bounced" | "deferred" | "rejected" | "held"
      /** outbound was sent with a login; inbound came in */
      direction?: "outbound" | "inbound"
      /** Exact, with or without angle brackets */
      message_id?: string
      /** ISO date or datetime, inclusive */
      start_date?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      end_date?: string
      /** For platform callers; a tenant always gets its own */
      organization_id?: string
      /** Of a page */
      limit?: number
      /** `next_cursor` of the page before; absent: the first page */
      cursor?: string
    }
    data: {
      messages: Array<Message>
      /** `cursor` of the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Everything that happened to one message of the organization, in order. Key(read) */
  '/messages/{message_id}': {
    params: {
      /** Message-ID, with or without angle brackets */
      message_id: string
    }
    data: OwnMessageTimeline
  }
  /** Migration jobs, newest first. Key(read) */
  '/migration/jobs': {
    query?: {
      status?: "pending" | "running" | "completed" | "failed" | "cancelled"
      direction?: "import" | "export"
      /** From 1 */
      page?: number
      per_page?: number
      /** Platform callers only */
      organization_id?: string
    }
    data: {
      success: true
      timestamp: string
      total: number
      page: number
      per_page: number
      jobs: Array<MigrationJob>
    }
  }
  /** Progress of a migration job. Key(read) */
  '/migration/jobs/{job_id}': {
    params: {
      job_id: string
    }
    data: {
      success: true
      timestamp: string
      job: MigrationJob
    }
  }
  /** Errors of a job, newest first. Key(read) */
  '/migration/jobs/{job_id}/errors': {
    params: {
      job_id: string
    }
    query?: {
      /** From 1 */
      page?: number
      per_page?: number
    }
    data: {
      success: true
      timestamp: string
      total: number
      page: number
      per_page: number
      job_id: string
      errors: Array<MigrationError>
    }
  }
  /** All jobs taken together. Key(read) */
  '/migration/summary': {
    query?: {
      /** Platform callers only */
      organization_id?: string
    }
    data: {
      success: true
      timestamp: string
      org_id: string | null
      summary: {
        total_jobs: number
        completed_jobs: number
        running_jobs: number
        failed_jobs: number
        pending_jobs: number
        cancelled_jobs: number
        total_messages: number
        total_migrated: number
        total_failed: number
        avg_speed: number
        import_jobs: number
        export_jobs: number
        first_job_at: string | null
        last_activity_at: string | null
      }
      recent_errors: Array<{
        job_id: string
        /** Empty for the whole job */
        folder: string
        /** Empty for the whole folder or job */
        message_uid: string
        message_id: string
        error_type: string
        error_message: string
        retryable: boolean
        retried: boolean
        created_at: string
      }>
    }
  }
  /** Health of the monitoring itself. Operator(support+) */
  '/monitoring/health': {
    data: {
      status: "healthy"
      monitoring_service: {
        status: "healthy"
        services_monitored: number
        last_sweep_at: string
        sweep_interval_seconds: number
      }
      timestamp: string
    }
  }
  /** Current state of this host and its mail. Operator(support+) */
  '/monitoring/metrics': {
    data: {
      system: {
        cpu_percent: number | null
        memory_percent: number
        disk_percent: number
        load_average: Array<number>
      }
      mail: {
        queue_size: number | null
        deferred_count: number | null
        /** Logged-in mail clients */
        active_connections: number | null
        /** Delivery attempts since midnight UTC */
        messages_today: number | null
      }
      timestamp: string
    }
  }
  /** Every service as it was found last. Operator(support+) */
  '/monitoring/services': {
    data: {
      overall_status: "healthy" | "degraded" | "critical"
      services: Record<string, MonitoredService>
      critical_services_down: Array<string>
      services_with_warnings: Array<string>
      total_services: number
      healthy_services: number
      timestamp: string
    }
  }
  /** One service as it was found last. Operator(support+) */
  '/monitoring/services/{service_name}': {
    params: {
      service_name: string
    }
    data: {
      name: string
      status: "up" | "degraded" | "down" | "error"
      protocol: string
      critical: boolean
      /** Milliseconds */
      response_time: number | null
      /** Milliseconds */
      check_duration: number
      error: string | null
      since: string
      timestamp: string
    }
  }
  /** Host, mail and services in figures. Operator(support+) */
  '/monitoring/stats': {
    data: {
      system: {
        cpu_percent: number | null
        memory_percent: number
        disk_percent: number
        load_average: Array<number>
      }
      mail: {
        queue_size: number | null
        deferred_count: number | null
        /** Logged-in mail clients */
        active_connections: number | null
        /** Delivery attempts since midnight UTC */
        messages_today: number | null
        active_domains: number | null
        total_users: number | null
      }
      services: {
        total: number
        healthy: number
        down: number
      }
      hosts: Array<{
        host: string
        resource: "cpu" | "memory" | "disk"
        level: "ok" | "warning" | "critical"
        percent: number
        checked_at: string
        changed_at: string
      }>
      timestamp: string
    }
  }
  /** List OAuth clients, newest first, without their secrets. Key(read) */
  '/oauth/clients': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** For platform callers */
      organization_id?: string
    }
    data: {
      items: Array<OauthClient>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an OAuth client, without its secret. Key(read) */
  '/oauth/clients/{client_id}': {
    params: {
      client_id: string
    }
    data: OauthClient
  }
  /** List what programs may do for mailboxes, newest first. Key(read) */
  '/oauth/grants': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Grants of one mailbox */
      email?: string
      /** Grants to one program */
      client_id?: string
    }
    data: {
      items: Array<OauthGrant>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List organizations. Operator(support+) */
  '/organizations/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      sort_by?: "name" | "created_at" | "domain_count" | "email_account_count" | "total_storage_used"
      sort_dir?: "asc" | "desc"
      /** Part of name or external id, an id, or a domain or mailbox it owns */
      q?: string
      active?: boolean
      /** Uses more than its domains may hold */
      over_quota?: boolean
    }
    data: {
      items: Array<OrganizationListItem>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an organization with its domains. Key(read) */
  '/organizations/{organization_id}': {
    params: {
      organization_id: string
    }
    data: OrganizationDetail
  }
  /** Mail by day, storage, and what needs attention in an organization. Key(read) */
  '/organizations/{organization_id}/overview': {
    params: {
      organization_id: string
    }
    query?: {
      /** Calendar days up to today */
      days?: number
      /** Time zone of the days, such as Europe/Berlin; default UTC */
      timezone?: string
    }
    data: OrganizationOverview
  }
  /** Get the quotas and the usage of an organization. Key(read) */
  '/organizations/{organization_id}/quotas': {
    params: {
      organization_id: string
    }
    data: {
      organization_id: string
      /** The storage_quotas of the organization */
      organization_quotas: Record<string, unknown>
      total_domains: number
      total_email_accounts: number
      quota_override: boolean
      quota_override_at: string | null
      quota_override_by: string | null
      storage_summary: {
        total_storage_used: number
        total_quota: number
        domains: Array<{
          domain: string
          storage_used: number
          quota: number
          usage_percentage: number
          email_accounts: number
          max_users: number
        }>
      }
    }
  }
  /** Get an organization by the id it has elsewhere. Key(read) */
  '/organizations/by-external-id/{external_id}': {
    params: {
      external_id: string
    }
    data: OrganizationDetail
  }
  /** List alert channels, newest first. Operator(support+) */
  '/platform/alerts/channels': {
    query?: {
      type?: "email" | "webhook"
      enabled?: boolean
    }
    data: {
      items: Array<AlertChannel>
    }
  }
  /** List alerts that fired, newest first. Operator(support+) */
  '/platform/alerts/history': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      rule_id?: string
      state?: "firing" | "resolved"
      severity?: "critical" | "warning" | "info"
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      sort?: "created_at" | "severity"
      direction?: "asc" | "desc"
    }
    data: {
      items: Array<AlertEvent>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the metrics that an alert rule can watch. Operator(support+) */
  '/platform/alerts/metrics': {
    data: {
      items: Array<{
        metric: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
        unit: string
        description: string
        /** A rule may watch a single organization */
        per_organization: boolean
      }>
      comparators: Array<">" | ">=" | "<" | "<=" | "==">
      severities: Array<"critical" | "warning" | "info">
      channel_types: Array<"email" | "webhook">
    }
  }
  /** List alert rules, newest first. Operator(support+) */
  '/platform/alerts/rules': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Part of name or description */
      q?: string
      metric?: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
      severity?: "critical" | "warning" | "info"
      enabled?: boolean
      /** Exact */
      organization_id?: string
      sort?: "created_at" | "name" | "metric" | "severity" | "updated_at" | "last_fired_at"
      direction?: "asc" | "desc"
    }
    data: {
      items: Array<AlertRule>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an alert rule. Operator(support+) */
  '/platform/alerts/rules/{rule_id}': {
    params: {
      rule_id: string
    }
    data: AlertRule
  }
  /** Number of organizations, domains and mailboxes over time. Operator(support+) */
  '/platform/analytics/growth': {
    query?: {
      /** Default 90; values above 730 are treated as 730 */
      days?: number
      /** hour, day, week, month; default day */
      granularity?: string
    }
    data: {
      series: Array<{
        bucket: string
        organizations: number
        domains: number
        mailboxes: number
        /** Only the last bucket has a value */
        storage_bytes: number | null
      }>
      totals: {
        organizations: number
        domains: number
        mailboxes: number
        storage_bytes: number
      }
    }
  }
  /** Sent mail by weekday and hour (UTC). Operator(support+) */
  '/platform/analytics/heatmap': {
    query?: {
      /** Default 30; values above 366 are treated as 366 */
      days?: number
      /** Counts only this organization */
      organization_id?: string
    }
    data: {
      cells: Array<{
        /** 0 is Monday */
        weekday: number
        hour: number
        count: number
      }>
      max: number
    }
  }
  /** Mail of all organizations over time, and the domains that send the most. Operator(support+) */
  '/platform/analytics/overview': {
    query?: {
      /** Default 30; values above 366 are treated as 366 */
      days?: number
      /** hour, day, week, month; default day */
      granularity?: string
      /** Counts only this organization */
      organization_id?: string
    }
    data: {
      range: {
        start: string
        end: string
        granularity: "hour" | "day" | "week" | "month"
      }
      totals: {
        /** Sent by hosted domains, with any outcome */
        sent: number
        delivered: number
        bounced: number
        deferred: number
        /** Delivered to hosted domains */
        received: number
        /** Percent */
        delivery_rate: number
      }
      series: Array<{
        bucket: string
        /** Sent by hosted domains, with any outcome */
        sent: number
        delivered: number
        bounced: number
        deferred: number
        /** Delivered to hosted domains */
        received: number
      }>
      domains: Array<{
        domain: string
        organization_id: string
        sent: number
        delivered: number
        bounced: number
        /** Percent */
        delivery_rate: number
        /** Percent */
        complaint_rate: number | null
      }>
    }
  }
  /** List audit entries, newest first. Operator(support+) */
  '/platform/audit': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      operator_id?: string
      /** Exact */
      operator_email?: string
      /** Exact, one of the facets */
      action?: string
      /** Exact, one of the facets */
      target_type?: string
      /** Exact */
      target_id?: string
      /** Exact */
      organization_id?: string
      result?: "success" | "failure"
      caller_scope?: "platform" | "organization"
      /** Exact */
      correlation_id?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** Part of action, target id or operator e-mail address */
      q?: string
    }
    data: {
      items: Array<AuditEntry>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an audit entry. Operator(support+) */
  '/platform/audit/{audit_id}': {
    params: {
      audit_id: number
    }
    data: AuditEntry
  }
  /** List the values of the audit filters. Operator(support+) */
  '/platform/audit/facets': {
    data: {
      actions: Array<string>
      target_types: Array<string>
      operators: Array<{
        id: string
        email: string
      }>
    }
  }
  /** Get the operator of the session. Operator(support+) */
  '/platform/auth/me': {
    data: {
      operator_id: string
      email: string
      role: "support" | "operator" | "admin" | "owner"
    }
  }
  /** List the own live sessions, newest first. Operator(support+) */
  '/platform/auth/sessions': {
    data: {
      items: Array<OwnOperatorSession>
    }
  }
  /** List backup runs, newest first. Operator(admin+) */
  '/platform/backups': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      status?: "running" | "completed" | "failed"
      target?: "database" | "mail" | "config" | "all"
      backup_type?: "full" | "incremental" | "differential"
      sort?: "started_at" | "completed_at" | "id"
      direction?: "asc" | "desc"
    }
    data: {
      items: Array<BackupRun>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Backup status: totals, newest runs, and the age of the last backup per host. Operator(admin+) */
  '/platform/backups/status': {
    data: {
      last_success_at: string | null
      last_failure_at: string | null
      /** BACKUP_SCHEDULE */
      schedule: string | null
      /** BACKUP_RETENTION_DAYS */
      retention_days: number | null
      /** Sum over completed runs */
      total_size_bytes: number
      total_runs: number
      running: number
      runs: Array<BackupRun>
      hosts: Array<{
        hostname: string
        last_success_at: string | null
        unencrypted_runs: number
        /** No run completed in the last 26 hours */
        stale: boolean
      }>
      /** BACKUP_S3_BUCKET */
      bucket: string | null
      /** The newest result of `mailplane backup drill` */
      last_drill: {
        backup_id: string | null
        /** File or s3:// location of the backup */
        location: string
        finished_at: string
        seconds: number
        passed: boolean
        problems: Array<string>
        last_passed_at: string | null
      } | null
      notes: Array<string>
    }
  }
  /** Deleted mailboxes whose mail is still on disk, and when it will be removed. Operator(support+) */
  '/platform/deleted-mailboxes': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      organization_id?: string
      /** Part of the address */
      q?: string
    }
    data: {
      items: Array<DeletedMailbox>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the newest log lines of the services and the mail servers, oldest first. Operator(support+) */
  '/platform/logs': {
    query?: {
      /** One of available_services; all when absent */
      service?: string
      /** Only services of Mailplane, or only Postfix, Dovecot and Rspamd; both when absent */
      source?: "mailplane" | "mail_servers"
      /** Lowest level: DEBUG, INFO, WARNING, ERROR or CRITICAL; case does not matter */
      level?: string
      /** Part of the message; case does not matter */
      q?: string
      /** Exact */
      correlation_id?: string
      /** ISO date or datetime */
      since?: string
      /** Number of newest lines to return; values above 2000 are treated as 2000 */
      lines?: number
    }
    data: {
      lines: Array<LogLine>
      /** There are more lines than returned */
      truncated: boolean
      source: string
      available_services: Array<string>
    }
  }
  /** List mail hosts by name; none when the installation has one host. Operator(support+) */
  '/platform/mail-hosts': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<MailHost>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a mail host. Operator(support+) */
  '/platform/mail-hosts/{host_id}': {
    params: {
      host_id: string
    }
    data: MailHost
  }
  /** List moves of mailboxes between mail hosts, newest first. Operator(support+) */
  '/platform/mailbox-moves': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      state?: "waiting" | "copying" | "locked" | "switched" | "done" | "failed" | "cancelled"
      /** From or to this host */
      host_id?: string
    }
    data: {
      items: Array<MailboxMove>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a move of a mailbox. Operator(support+) */
  '/platform/mailbox-moves/{move_id}': {
    params: {
      move_id: string
    }
    data: MailboxMove
  }
  /** A metric over the last hours. Operator(support+) */
  '/platform/metrics/range': {
    query: {
      /** Name of a metric; expressions are not accepted */
      query: "cpu_usage_percent" | "memory_usage_percent" | "memory_usage_bytes" | "mail_queue_depth" | "mail_delivery_latency_p95_seconds" | "http_request_rate" | "http_error_rate" | "service_up"
      /** Values above 168 are treated as 168 */
      hours?: number
      /** Distance between two points: a number with s, m, h or d. Depends on hours if absent */
      step?: string
    }
    data: {
      series: Array<{
        metric: string
        label: string
        points: Array<{
          t: string
          v: number
        }>
      }>
      start: string
      end: string
      step: string
    }
  }
  /** List operators, newest first. Operator(owner+) */
  '/platform/operators': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Part of email or full name */
      q?: string
      role?: "support" | "operator" | "admin" | "owner"
      is_active?: boolean
    }
    data: {
      items: Array<Operator>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get an operator. Operator(owner+) */
  '/platform/operators/{operator_id}': {
    params: {
      operator_id: string
    }
    data: Operator
  }
  /** List all sessions of an operator, live or ended, newest first. Operator(owner+) */
  '/platform/operators/{operator_id}/sessions': {
    params: {
      operator_id: string
    }
    data: {
      items: Array<OperatorSession>
    }
  }
  /** Get the state of the platform. Operator(support+) */
  '/platform/overview': {
    data: PlatformOverview
  }
  /** List mailboxes and domains that could not be provisioned, latest first. Operator(support+) */
  '/platform/provisioning-failures': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      resource_type?: "mailbox" | "domain"
      organization_id?: string
    }
    data: {
      items: Array<ProvisioningFailure>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List live sessions of all operators, newest first. Operator(owner+) */
  '/platform/sessions': {
    data: {
      items: Array<LiveOperatorSession>
    }
  }
  /** The server that invitations, resets, alerts and notices go to. Operator(support+) */
  '/platform/system-mail': {
    data: SystemMailServer
  }
  /** Health of the access to the mail queue. Operator(support+) */
  '/queue/health': {
    data: {
      status: "healthy"
      service: "queue"
    }
  }
  /** Every delivery still to be made to a domain, one for each recipient. Operator(support+) */
  '/queue/jobs/{domain}': {
    params: {
      domain: string
    }
    data: {
      domain: string
      /** One a recipient at this domain; the first 1000 */
      jobs: Array<{
        queue_id: string
        status: "active" | "deferred" | "hold"
        sender: string
        recipient: string
        size: number
        arrival_time: string
        reason: string | null
      }>
      total: number
      queue_error: string | null
    }
  }
  /** Messages that will be tried again, and why they had to wait. Operator(support+) */
  '/queue/mail-queue/deferred': {
    data: {
      /** The first 1000 */
      messages: Array<{
        queue_id: string
        status: "active" | "deferred" | "hold"
        /** Empty or MAILER-DAEMON: a notice that mail failed */
        sender: string
        recipients: Array<string>
        /** Bytes */
        size: number
        date: string
        arrival_time: string
        /** Reason that the last attempt failed, in words */
        reason: string | null
      }>
      total: number
      queue_error: string | null
    }
  }
  /** Envelope and header of a queued message, never its body. Operator(support+) */
  '/queue/message/{queue_id}': {
    params: {
      queue_id: string
    }
    data: {
      queue_id: string
      sender: string
      /** Recipients who still wait for it */
      recipients: Array<string>
      headers: Array<{
        name: string
        value: string
      }>
      /** The header is longer than 512 KB */
      truncated: boolean
    }
  }
  /** Mail that the logins of the organization have sent and that still waits. Key(read) */
  '/queue/own': {
    data: {
      /** The first 1000 */
      messages: Array<{
        queue_id: string
        status: "active" | "deferred" | "hold"
        /** Empty or MAILER-DAEMON: a notice that mail failed */
        sender: string
        recipients: Array<string>
        /** Bytes */
        size: number
        date: string
        arrival_time: string
        /** Reason that the last attempt failed, in words */
        reason: string | null
      }>
      total: number
      queue_error: string | null
    }
  }
  /** Queued mail for recipients at a domain, hosted here or not. Operator(support+) */
  '/queue/queue/domain/{domain}': {
    params: {
      domain: string
    }
    data: {
      domain: string
      total: number
      active: number
      deferred: number
      hold: number
      /** The first 1000 */
      messages: Array<{
        queue_id: string
        status: "active" | "deferred" | "hold"
        /** Empty or MAILER-DAEMON: a notice that mail failed */
        sender: string
        recipients: Array<string>
        /** Bytes */
        size: number
        date: string
        arrival_time: string
        /** Reason that the last attempt failed, in words */
        reason: string | null
      }>
      queue_error: string | null
    }
  }
  /** The mail queue with counts. Operator(support+) */
  '/queue/queue/status': {
    data: {
      total_messages: number
      summary: {
        active: number
        deferred: number
        hold: number
      }
      /** The first 1000 */
      messages: Array<{
        queue_id: string
        status: "active" | "deferred" | "hold"
        /** Empty or MAILER-DAEMON: a notice that mail failed */
        sender: string
        recipients: Array<string>
        /** Bytes */
        size: number
        date: string
        arrival_time: string
        /** Reason that the last attempt failed, in words */
        reason: string | null
      }>
      total: number
      active: number
      deferred: number
      hold: number
      /** Recipients per domain, the most first */
      by_domain: Array<{
        domain: string
        count: number
      }>
      queue_error: string | null
    }
  }
  /** Length, size and age of the mail queue over time. Operator(support+) */
  '/queue/samples': {
    query?: {
      hours?: number
    }
    data: {
      hours: number
      /** A minute each, or the largest values of a longer step */
      points: Array<{
        t: string
        active: number
        deferred: number
        hold: number
        size_bytes: number
        /** Of mail that is not on hold; null: there is none */
        oldest_age_seconds: number | null
      }>
    }
  }
  /** Collections of a domain. Key(read) */
  '/rag/collections/{domain}': {
    params: {
      domain: string
    }
    data: {
      collections: Array<RagCollection>
      total: number
    }
  }
  /** Contents of the index for a domain. Key(read) */
  '/rag/collections/{domain}/stats': {
    params: {
      domain: string
    }
    data: {
      domain: string
      collections: number
      total_documents: number
      total_vectors: number
      /** Of the text and its vectors */
      storage_bytes: number
    }
  }
  /** Health of search, and its mode. Key(read) */
  '/rag/health': {
    data: {
      status: "healthy"
      /** Vectors are in PostgreSQL */
      qdrant: "not_used"
      /** The second ranking method: embeddings of an endpoint, a local model, or similarity of words */
      embedding_provider: "embeddings" | "local_model" | "lexical"
      embedding_model: string
      collections: number
      total_documents: number
    }
  }
  /** Collections of an organization. Key(read) */
  '/rag/organizations/{organization_id}/collections': {
    params: {
      organization_id: string
    }
    data: {
      collections: Array<RagCollection>
      total: number
    }
  }
  /** Settings for indexing and searching the mail of an organization. Key(read) */
  '/rag/organizations/{organization_id}/rag/config': {
    params: {
      organization_id: string
    }
    data: RagConfiguration
  }
  /** Indexed documents, newest first, without their text. Key(read) */
  '/rag/organizations/{organization_id}/rag/documents': {
    params: {
      organization_id: string
    }
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      documents: Array<{
        id: string
        collection_id: string
        domain: string
        source: "mail" | "api"
        document_id: string | null
        mailbox: string | null
        folder: string | null
        subject: string | null
        from: string | null
        date: string | null
        size_bytes: number
        chunk_count: number
        indexed_at: string
      }>
      total: number
      page: number
      per_page: number
    }
  }
  /** Contents of the index for an organization. Key(read) */
  '/rag/organizations/{organization_id}/rag/stats': {
    params: {
      organization_id: string
    }
    data: {
      organization_id: string
      collections: number
      documents: number
      vectors: number
      last_indexed_at: string | null
    }
  }
  /** The configuration of a domain's organization, and whether its mail is indexed. Key(read) */
  '/rag/rag/config/domain/{domain}': {
    params: {
      domain: string
    }
    data: RagDomainConfiguration
  }
  /** Progress of indexing the mail of a domain. Key(read) */
  '/rag/rag/index/status/{domain}': {
    params: {
      domain: string
    }
    data: {
      domain: string
      /** Of the last job */
      status: "never_indexed" | "pending" | "running" | "complete" | "failed"
      index_mail: boolean
      /** In the mailboxes of the domain, as last counted */
      total_emails: number
      indexed_emails: number
      last_indexed_at: string | null
      next_scheduled_at: string | null
      error: string | null
    }
  }
  /** Alias of the route for one rule. Key(read) */
  '/rate-limiter/quotas/domain/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** outbound (default) or inbound */
      direction?: string
    }
    data: {
      success: true
      data: {
        entity_type: string
        identifier: string
        direction: string
        config: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
          /** The limit is enforced */
          active: boolean
          /** The rule with the lowest number is looked at first */
          priority: number
          /** Percent of a limit at which a warning event is emitted */
          warning_threshold: number
          /** Percent of a limit at which it is critical */
          critical_threshold: number
          description: string
        }
        /** Limits of the operator, which a tenant can lower and not lift */
        operator_limits: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
        }
        usage: {
          hourly_count: number
          daily_count: number
          monthly_count: number
          second_count: number
          minute_count: number
        }
        percentages: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        remaining: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        timestamp: string
      }
    }
  }
  /** Limits of a domain and their usage. Key(read) */
  '/rate-limiter/rate-limits/domain/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** outbound (default) or inbound */
      direction?: string
    }
    data: {
      success: true
      data: {
        entity_type: string
        identifier: string
        direction: string
        config: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
          /** The limit is enforced */
          active: boolean
          /** The rule with the lowest number is looked at first */
          priority: number
          /** Percent of a limit at which a warning event is emitted */
          warning_threshold: number
          /** Percent of a limit at which it is critical */
          critical_threshold: number
          description: string
        }
        /** Limits of the operator, which a tenant can lower and not lift */
        operator_limits: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
        }
        usage: {
          hourly_count: number
          daily_count: number
          monthly_count: number
          second_count: number
          minute_count: number
        }
        percentages: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        remaining: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        timestamp: string
      }
    }
  }
  /** Limits of a mailbox and their usage. Key(read) */
  '/rate-limiter/rate-limits/mailbox/{email}': {
    params: {
      email: string
    }
    query?: {
      /** outbound (default) or inbound */
      direction?: string
    }
    data: {
      success: true
      data: {
        entity_type: string
        identifier: string
        direction: string
        config: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
          /** The limit is enforced */
          active: boolean
          /** The rule with the lowest number is looked at first */
          priority: number
          /** Percent of a limit at which a warning event is emitted */
          warning_threshold: number
          /** Percent of a limit at which it is critical */
          critical_threshold: number
          description: string
        }
        /** Limits of the operator, which a tenant can lower and not lift */
        operator_limits: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
        }
        usage: {
          hourly_count: number
          daily_count: number
          monthly_count: number
          second_count: number
          minute_count: number
        }
        percentages: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        remaining: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        timestamp: string
      }
    }
  }
  /** Limits of an organization and their usage. Key(read) */
  '/rate-limiter/rate-limits/organization/{organization_id}': {
    params: {
      organization_id: string
    }
    query?: {
      /** outbound (default) or inbound */
      direction?: string
    }
    data: {
      success: true
      data: {
        entity_type: string
        identifier: string
        direction: string
        config: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
          /** The limit is enforced */
          active: boolean
          /** The rule with the lowest number is looked at first */
          priority: number
          /** Percent of a limit at which a warning event is emitted */
          warning_threshold: number
          /** Percent of a limit at which it is critical */
          critical_threshold: number
          description: string
        }
        /** Limits of the operator, which a tenant can lower and not lift */
        operator_limits: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
        }
        usage: {
          hourly_count: number
          daily_count: number
          monthly_count: number
          second_count: number
          minute_count: number
        }
        percentages: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        remaining: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        timestamp: string
      }
    }
  }
  /** Alias of the limits of a domain. Key(read) */
  '/rate-limiter/rate-limits/usage/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** outbound (default) or inbound */
      direction?: string
    }
    data: {
      success: true
      data: {
        entity_type: string
        identifier: string
        direction: string
        config: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
          /** The limit is enforced */
          active: boolean
          /** The rule with the lowest number is looked at first */
          priority: number
          /** Percent of a limit at which a warning event is emitted */
          warning_threshold: number
          /** Percent of a limit at which it is critical */
          critical_threshold: number
          description: string
        }
        /** Limits of the operator, which a tenant can lower and not lift */
        operator_limits: {
          /** Messages per second; 0 = no limit */
          second_limit: number
          /** Messages per minute; 0 = no limit */
          minute_limit: number
          /** Recipients per hour; 0 = no limit */
          hourly_limit: number
          /** Recipients per day; 0 = no limit */
          daily_limit: number
          /** Recipients in 30 days; 0 = no limit */
          monthly_limit: number
          /** Messages in any 10 seconds, once it has been set; 0 = no limit */
          burst_limit: number
        }
        usage: {
          hourly_count: number
          daily_count: number
          monthly_count: number
          second_count: number
          minute_count: number
        }
        percentages: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        remaining: {
          /** Absent where there is no limit */
          hourly?: number
          /** Absent where there is no limit */
          daily?: number
          /** Absent where there is no limit */
          monthly?: number
          /** Absent where there is no limit */
          second?: number
          /** Absent where there is no limit */
          minute?: number
        }
        timestamp: string
      }
    }
  }
  /** The newest scores of domains, worst first. Operator(support+) */
  '/reputation/domains': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Only of this organization */
      organization_id?: string
      /** hourly, daily, weekly or monthly, in any case */
      period_type?: string
      /** Part of the domain */
      q?: string
      /** Only scores up to this one */
      max_score?: number
      sort_by?: "overall_score" | "deliverability_score" | "engagement_score" | "domain" | "emails_sent" | "emails_delivered" | "emails_bounced" | "emails_complained" | "emails_opened" | "emails_clicked" | "period_start"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<DomainReputation>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Scores of a domain over time, and complaints about its mail. Operator(support+) */
  '/reputation/domains/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** hourly, daily, weekly or monthly, in any case */
      period_type?: string
      history_limit?: number
      complaint_limit?: number
    }
    data: {
      domain: string
      /** The newest period; null while the domain has sent nothing */
      current: {
        id: string
        domain: string
        domain_id: string
        organization_id: string
        /** 0 to 100 */
        overall_score: number
        /** 0 to 100 */
        deliverability_score: number
        /** 0 to 100 */
        engagement_score: number
        emails_sent: number
        emails_delivered: number
        emails_bounced: number
        emails_complained: number
        emails_opened: number
        emails_clicked: number
        period_start: string
        period_end: string
        period_type: string
        /** Complaints by provider */
        isp_data: Record<string, unknown> | null
        /** Against the period before; null when there is none */
        trend: number | null
      } | null
      /** Newest first */
      history: Array<DomainReputation>
      /** About mail that the domain sent, newest first */
      complaints: Array<FeedbackLoop>
    }
  }
  /** Complaints that providers passed on, newest first. Operator(support+) */
  '/reputation/feedback-loops': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Only of this organization */
      organization_id?: string
      /** The sender's domain */
      domain?: string
      /** The provider that forwarded the complaint, in any case */
      provider?: string
      /** Such as abuse, in any case */
      feedback_type?: string
      processed?: boolean
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** Part of the sender */
      q?: string
      sort_by?: "created_at" | "processed_at" | "isp_name" | "feedback_type" | "sender" | "original_recipient"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<FeedbackLoop>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Reputation of IP addresses, worst first. Operator(support+) */
  '/reputation/ips': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Part of the address */
      q?: string
      is_blocked?: boolean
      max_score?: number
      min_score?: number
      sort_by?: "reputation_score" | "ip_address" | "total_connections" | "total_messages" | "spam_count" | "bounce_count" | "auth_failure_count" | "first_seen" | "last_seen" | "updated_at"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<IpReputation>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Limits by destination, built-in and set, with the mail that waits. Operator(support+) */
  '/reputation/isp-limits': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<DestinationLimit>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
      /** false: this installation does not pace mail */
      enforced: boolean
      /** Variables to set when limits are not enforced */
      note: string | null
    }
  }
  /** Items that need attention: the worst domains and IP addresses, complaints, suppressions. Operator(support+) */
  '/reputation/summary': {
    query?: {
      /** Only of this organization */
      organization_id?: string
      days?: number
      /** hourly, daily, weekly or monthly, in any case */
      period_type?: string
    }
    data: {
      worst_domains: Array<DomainReputation>
      worst_ips: Array<IpReputation>
      /** One entry a day of UTC, oldest first */
      complaint_trend: Array<{
        date: string
        /** Reports of providers */
        complaints: number
        delivered: number
        /** Complaints about mail of hosted domains */
        complained: number
        /** Of what was delivered; null when nothing was */
        complaint_rate: number | null
      }>
      suppressions: {
        /** In force */
        total: number
        by_type: {
          BOUNCE: number
          COMPLAINT: number
          UNSUBSCRIBE: number
          MANUAL: number
        }
      }
    }
  }
  /** IP addresses in warm-up, with the mail that waits for them. Operator(support+) */
  '/reputation/warm-ups': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<WarmUpSchedule>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Usage of the customers of resellers, in total and for each. Operator(admin+) */
  '/reseller/billing/summary': {
    query?: {
      /** Absent: all resellers */
      parent_org_id?: string
    }
    data: {
      parent_org_id: string | null
      total_sub_organizations: number
      total_active_sub_organizations: number
      total_users: number
      total_domains: number
      total_storage_used: number
      total_storage_allocated: number
      total_mailboxes: number
      total_storage_bytes: number
      per_org_breakdown: Array<{
        org_id: string
        name: string
        status: "active" | "inactive"
        plan_name: string | null
        users: number
        domains: number
        storage_used: number
        storage_limit: number | null
      }>
      by_plan: Array<{
        plan_name: string | null
        count: number
      }>
    }
  }
  /** Customers of resellers, with what they use. Operator(admin+) */
  '/reseller/sub-organizations': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      parent_org_id?: string
      status?: "active" | "inactive"
    }
    data: {
      items: Array<SubOrganization>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** A customer of a reseller, with its domains. Operator(admin+) */
  '/reseller/sub-organizations/{org_id}': {
    params: {
      org_id: string
    }
    data: {
      id: string
      name: string
      parent_organization_id: string
      admin_email: string | null
      admin_name: string | null
      status: "active" | "inactive"
      plan: {
        max_users: number | null
        max_domains: number | null
        /** Bytes; null means no limit */
        storage_limit: number | null
        plan_name: string | null
      }
      domain_count: number
      user_count: number
      /** Bytes */
      storage_used: number
      created_at: string | null
      updated_at: string | null
      domains: Array<{
        id: string
        domain: string
        active: boolean
        user_count: number
        storage_used: number
      }>
    }
  }
  /** List DLP policies of all organizations, newest first. Operator(operator+) */
  '/security/dlp/policies': {
    query?: {
      /** Exact */
      organization_id?: string
      policy_type?: "pii" | "keyword" | "regex" | "file_type"
      severity?: "low" | "medium" | "high" | "critical"
      apply_to?: "inbound" | "outbound" | "both"
      enabled?: boolean
      /** Part of name or description */
      q?: string
      sort_by?: "created_at" | "updated_at" | "name" | "severity"
      sort_dir?: "asc" | "desc"
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<DlpPolicy>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List DLP violations, newest first, without the matched text. Operator(operator+) */
  '/security/dlp/violations': {
    query?: {
      /** Exact */
      organization_id?: string
      policy_id?: number
      severity?: "low" | "medium" | "high" | "critical"
      /** Exact: a kind of personal data, keyword, regex or file_type */
      violation_type?: string
      action_taken?: "block" | "quarantine" | "encrypt" | "notify" | "log_only"
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** Part of sender or recipient */
      q?: string
      sort_by?: "created_at" | "severity" | "sender"
      sort_dir?: "asc" | "desc"
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<DlpViolation>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a DLP violation without the matched text. Operator(operator+) */
  '/security/dlp/violations/{violation_id}': {
    params: {
      violation_id: number
    }
    data: DlpViolation
  }
  /** Count DLP violations by severity, policy, action and day. Operator(operator+) */
  '/security/dlp/violations/summary': {
    query?: {
      /** Exact */
      organization_id?: string
      days?: number
    }
    data: {
      /** All violations, without a time limit */
      total: number
      days: number
      by_severity: Array<{
        severity: string
        count: number
      }>
      /** The 25 policies with the most violations */
      by_policy: Array<{
        policy_id: number
        policy_name: string | null
        count: number
      }>
      by_action_taken: Array<{
        action_taken: string
        count: number
      }>
      /** One entry per day, oldest first, including today */
      series: Array<{
        date: string
        count: number
      }>
    }
  }
  /** List failed logins, counted by IP address, account and service. Operator(operator+) */
  '/security/failed-auth': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact, in any spelling */
      client_ip?: string
      /** Exact, in any case */
      username?: string
      service?: "smtp" | "imap" | "pop3" | "sieve" | "lmtp" | "doveadm" | "other" | "mail_account" | "api" | "operator" | "operator_mfa" | "api_mfa" | "password_reset" | "webmail" | "mail_program" | "api_key"
      /** A block is in force now */
      blocked?: boolean
      /** ISO date or datetime of the last attempt, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** Part of IP address or username */
      q?: string
      sort_by?: "last_attempt_at" | "attempt_count" | "first_attempt_at"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<FailedAuth>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Summarize failed logins of the last hours by IP address, account and service. Operator(operator+) */
  '/security/failed-auth/summary': {
    query?: {
      /** Larger values are reduced to 168 */
      hours?: number
    }
    data: {
      window_hours: number
      total_attempts: number
      distinct_ips: number
      distinct_accounts: number
      top_ips: Array<{
        client_ip: string
        attempt_count: number
        distinct_accounts: number
        services: Array<string>
        blocked: boolean
        last_attempt_at: string
      }>
      top_accounts: Array<{
        username: string
        attempt_count: number
        distinct_ips: number
        last_attempt_at: string
      }>
      by_service: Array<{
        service: string
        attempt_count: number
      }>
      /** One entry per hour; the first also counts the partial hour before it */
      series: Array<{
        hour: string
        count: number
      }>
    }
  }
  /** List geo policies, newest first. Operator(operator+) */
  '/security/geo-policies': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Exact */
      organization_id?: string
      action?: "block" | "challenge" | "log_only"
      enabled?: boolean
    }
    data: {
      items: Array<GeoPolicy>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
      /** A GeoIP database is loaded; without it no geo policy is enforced */
      countries_known: boolean
      /** Advice for configuring a GeoIP database, when none is loaded */
      schema_note?: string
    }
  }
  /** List IP access rules, newest first. Operator(operator+) */
  '/security/ip-rules': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      rule_type?: "whitelist" | "blacklist"
      active?: boolean
      /** Exact */
      organization_id?: string
      /** Part of IP address or description */
      q?: string
      sort_by?: "created_at" | "updated_at" | "ip_address" | "rule_type"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<IpRule>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the throttles and blocks that are in force, of IP addresses and accounts. Operator(operator+) */
  '/security/throttles': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      kind?: "ip" | "account" | "account_from_ip"
      service?: "smtp" | "imap" | "pop3" | "sieve" | "lmtp" | "doveadm" | "other" | "mail_account" | "api" | "operator" | "operator_mfa" | "api_mfa" | "password_reset" | "webmail" | "mail_program" | "api_key"
      /** Exact, in any spelling; IPv6 means its /64 */
      client_ip?: string
      /** Exact, in any case */
      username?: string
    }
    data: {
      items: Array<ThrottleEntry>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List shared mailboxes. Key(read) */
  '/shared-mailboxes': {
    query?: {
      /** Platform callers only */
      organization_id?: string
      /** inactive: the deleted ones */
      status?: "active" | "inactive"
      /** Part of address or name */
      q?: string
      /** Everything unless page or per_page is sent */
      page?: number
      per_page?: number
    }
    data: Array<SharedMailboxListItem>
  }
  /** Get a shared mailbox with its members. Key(read) */
  '/shared-mailboxes/{mailbox_id}': {
    params: {
      mailbox_id: string
    }
    data: SharedMailboxDetail
  }
  /** List SMTP credentials, newest first unless sorted otherwise. Key(read) */
  '/smtp-credentials/': {
    query?: {
      domain_id?: string
      /** Platform callers only */
      organization_id?: string
      /** false: the revoked ones */
      active?: boolean
      /** Part of username or name */
      q?: string
      sort_by?: "created_at" | "username" | "last_used_at"
      sort_dir?: "asc" | "desc"
      /** More than 500 means 500 */
      limit?: number
      /** Rows to skip */
      offset?: number
    }
    data: {
      credentials: Array<SmtpCredential>
      /** Without limit and offset */
      total: number
    }
  }
  /** Get an SMTP credential, without its secret. Key(read) */
  '/smtp-credentials/{credential_id}': {
    params: {
      credential_id: string
    }
    data: SmtpCredential
  }
  /** List the changes of an SMTP credential, newest first; readable after its deletion. Key(read) */
  '/smtp-credentials/{credential_id}/events': {
    params: {
      credential_id: string
    }
    query?: {
      /** More than 500 means 500 */
      limit?: number
    }
    data: {
      events: Array<SmtpCredentialEvent>
    }
  }
  /** Number of messages that a credential sent, by outcome. Key(read) */
  '/smtp-credentials/{credential_id}/usage': {
    params: {
      credential_id: string
    }
    query?: {
      days?: number
    }
    data: SmtpCredentialUsage
  }
  /** Accounts at the CA, the most used first. Operator(admin+) */
  '/ssl/accounts': {
    data: {
      accounts: Array<AcmeAccount>
      total: number
    }
  }
  /** Certificates, the next to end first. Operator(support+) */
  '/ssl/certificates': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      status?: "active" | "expired" | "revoked" | "pending" | "failed"
      /** Part of it */
      domain?: string
      /** Ends within so many days, or has ended */
      expiring_days?: number
      sort_by?: "valid_until" | "domain" | "status" | "issued_at"
      sort_dir?: "asc" | "desc"
    }
    data: {
      items: Array<Certificate>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
      /** Problems that were found */
      schema_note?: string
    }
  }
  /** The newest certificate of a domain. Operator(support+) */
  '/ssl/certificates/{domain}': {
    params: {
      domain: string
    }
    data: Certificate
  }
  /** Number of certificates by state, and the accounts at the CA. Operator(support+) */
  '/ssl/status': {
    query?: {
      include_accounts?: boolean
    }
    data: {
      certificates: {
        active: number
        expired: number
        revoked: number
        pending: number
        failed: number
        total: number
        /** Active, and for 30 days at most */
        expiring_soon: number
      }
      last_issued: {
        domain: string | null
        issued_at: string | null
      }
      timestamp: string
      /** Problems that were found */
      schema_note?: string
      /** For operators who may list them: admin or above */
      acme_accounts?: Array<AcmeAccount>
      acme_accounts_total?: number
    }
  }
  /** Mail, attachments and calendars now and by day, and when the quota fills up. Key(read) */
  '/storage/history/{entity_type}/{identifier}': {
    params: {
      entity_type: "organization" | "domain" | "mailbox"
      /** Id of an organization, name of a domain, or address of a mailbox */
      identifier: string
    }
    query?: {
      days?: number
    }
    data: {
      entity_type: "organization" | "domain" | "mailbox"
      identifier: string
      /** Attachments are a part of mailbox, and not counted again in total */
      by_type: Array<{
        /** mailbox, attachments, dav, archive, or total */
        storage_type: string
        used_bytes: number
      }>
      /** Of mail; null: no limit */
      quota_bytes: number | null
      /** Of the quota, by mail */
      usage_percentage: number
      /** From the first day with a figure on */
      days: Array<{
        date: string
        /** All types */
        used_bytes: number
        mailbox_bytes: number
      }>
      /** Day when mail reaches the quota at this rate; null with less than 7 days of figures */
      forecast: {
        /** Growth of mail */
        bytes_per_day: number
        fills_at: string | null
        days_left: number | null
        /** At most 30 */
        based_on_days: number
      } | null
      generated_at: string
    }
  }
  /** The quotas that hold for a domain, inherited ones included. Key(read) */
  '/storage/quotas/domain/{domain}': {
    params: {
      domain: string
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      quota_configuration: {
        /** Bytes; null: no limit */
        total_storage_limit: number | null
        attachment_storage_limit: number
        max_file_size: number
        max_attachment_size: number
        max_email_size: number
        enforce_limits: boolean
        /** Percent */
        warning_threshold: number
        /** Percent */
        critical_threshold: number
        allowed_file_types: Array<string> | null
        blocked_file_types: Array<string> | null
      }
      /** Of a domain: for mailboxes that ask for none */
      default_mailbox_quota_mb?: number | null
    }
  }
  /** The quotas that hold for a mailbox, inherited ones included. Key(read) */
  '/storage/quotas/mailbox/{email}': {
    params: {
      email: string
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      quota_configuration: {
        /** Bytes; null: no limit */
        total_storage_limit: number | null
        attachment_storage_limit: number
        max_file_size: number
        max_attachment_size: number
        max_email_size: number
        enforce_limits: boolean
        /** Percent */
        warning_threshold: number
        /** Percent */
        critical_threshold: number
        allowed_file_types: Array<string> | null
        blocked_file_types: Array<string> | null
      }
      /** Of a domain: for mailboxes that ask for none */
      default_mailbox_quota_mb?: number | null
    }
  }
  /** Storage used by a domain. Key(read) */
  '/storage/usage/domain/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Have Dovecot count now */
      force_calculate?: boolean
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      usage: {
        used_bytes: number
        email_bytes: number
        attachment_bytes: number
        /** null: no limit */
        quota_bytes: number | null
        usage_percentage: number
        total_emails: number
        total_attachments: number
        last_calculated_at: string | null
        calculation_time_ms: number | null
        total_email_accounts: number
        /** false: there was no time to count every mailbox */
        complete: boolean
      }
    }
  }
  /** Storage used by a mailbox. Key(read) */
  '/storage/usage/mailbox/{email}': {
    params: {
      email: string
    }
    query?: {
      /** Have Dovecot count now */
      force_calculate?: boolean
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      usage: {
        used_bytes: number
        email_bytes: number
        attachment_bytes: number
        /** null: no limit */
        quota_bytes: number | null
        usage_percentage: number
        total_emails: number
        total_attachments: number
        last_calculated_at: string | null
        calculation_time_ms: number | null
        total_files: number
      }
    }
  }
  /** Storage used by all domains, with the largest ones. Operator(support+) */
  '/storage/usage/summary': {
    data: {
      total_storage_used: number
      total_quota: number
      usage_percentage: number
      domain_count: number
      account_count: number
      top_domains: Array<{
        domain: string
        storage_used: number
        max_quota: number
      }>
      top_accounts: Array<{
        email: string
        storage_used: number
        storage_quota: number
      }>
    }
  }
  /** Suppressed addresses of the organization, newest first. Key(read) */
  '/suppressions/': {
    query?: {
      /** Exact */
      organization_id?: string
      /** BOUNCE, COMPLAINT, UNSUBSCRIBE or MANUAL, in any case */
      suppression_type?: string
      active?: boolean
      /** A part of the address */
      q?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** created_at (default) or email */
      sort_by?: string
      /** desc (default) or asc */
      sort_dir?: string
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<Suppression>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Templates, last changed first, without their texts. Key(read) */
  '/templates/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      category?: "transactional" | "marketing" | "notification" | "general"
      /** false lists deleted templates too */
      active_only?: boolean
      /** A part of the name or the description */
      q?: string
    }
    data: {
      items: Array<TemplateSummary>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a template. Key(read) */
  '/templates/{template_id}': {
    params: {
      template_id: string
    }
    data: Template
  }
  /** Number of times that a template was rendered. Key(read) */
  '/templates/{template_id}/stats': {
    params: {
      template_id: string
    }
    data: {
      template_id: string
      total_renders: number
      created_at: string
      /** The last 30 days; days without a render are left out */
      daily_renders: Array<{
        date: string
        count: number
      }>
    }
  }
  /** The last 100 versions of a template, newest first. Key(read) */
  '/templates/{template_id}/versions': {
    params: {
      template_id: string
    }
    data: {
      versions: Array<TemplateVersion>
    }
  }
  /** Get a version of a template with its texts. Key(read) */
  '/templates/{template_id}/versions/{version}': {
    params: {
      template_id: string
      version: number
    }
    data: WholeTemplateVersion
  }
  /** Compare a version with another one, line by line. Key(read) */
  '/templates/{template_id}/versions/{version}/diff': {
    params: {
      template_id: string
      version: number
    }
    query?: {
      /** Absent: the version before */
      against?: number
    }
    data: {
      version: number
      against: number
      subject_template: Array<{
        kind: "same" | "removed" | "added"
        text: string
      }>
      html_content: Array<{
        kind: "same" | "removed" | "added"
        text: string
      }>
      plaintext_content: Array<{
        kind: "same" | "removed" | "added"
        text: string
      }>
    }
  }
  /** Built-in templates to start from. Key(read) */
  '/templates/library': {
    data: {
      templates: Array<StarterTemplate>
    }
  }
  /** Leads to the address that was stored for this link, and to no other. None */
  '/tracking/click/{tracking_id}': {
    params: {
      /** The identity: only the recipient has it */
      tracking_id: string
    }
    data: undefined
  }
  /** The tracking image that records an open; identical for every id. None */
  '/tracking/pixel/{tracking_id}': {
    params: {
      /** The identity: only the recipient has it */
      tracking_id: string
    }
    data: undefined
  }
  /** Opens, clicks and other events of a domain. Key(read) */
  '/tracking/stats/domain/{domain}': {
    params: {
      domain: string
    }
    query?: {
      days?: number
    }
    data: {
      domain: string
      domain_id: string
      period_days: number
      start_date: string
      end_date: string
      /** By type of event: delivered, opened, clicked, bounced, complained, unsubscribed */
      event_statistics: Record<string, {
        /** By people */
        total: number
        unique_emails: number
        unique_recipients: number
        /** By scanners, prefetchers and privacy proxies */
        automated: number
      }>
      /** Deliveries in the mail log */
      total_sent: number
      total_opens: number
      total_clicks: number
      generated_at: string
    }
  }
  /** Opens, clicks and other events of one message. Key(read) */
  '/tracking/stats/email/{email_id}': {
    params: {
      /** Message-ID, with or without angle brackets */
      email_id: string
    }
    data: {
      email_id: string
      /** By type of event: delivered, opened, clicked, bounced, complained, unsubscribed */
      statistics: Record<string, {
        /** By people */
        total: number
        /** Recipients */
        unique: number
        unique_ips: number
        /** By scanners, prefetchers and privacy proxies */
        automated: number
        first_event: string
        last_event: string
      }>
      device_breakdown: Array<{
        device_type: string | null
        browser: string | null
        operating_system: string | null
        count: number
      }>
      geographic_breakdown: Array<{
        country: string | null
        region: string | null
        city: string | null
        count: number
      }>
      /** The newest 100 */
      timeline: Array<TrackingEvent>
      /** Present when there is nothing to show yet */
      message?: string
      generated_at: string
    }
  }
  /** Suppressed addresses of all organizations. Operator(support+) */
  '/tracking/suppressions': {
    query?: {
      /** Exact */
      organization_id?: string
      /** BOUNCE, COMPLAINT, UNSUBSCRIBE or MANUAL, in any case */
      suppression_type?: string
      active?: boolean
      /** A part of the address */
      q?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** created_at (default) or email */
      sort_by?: string
      /** desc (default) or asc */
      sort_dir?: string
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<Suppression>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** A page that asks for confirmation; it changes nothing. None */
  '/tracking/unsubscribe/{tracking_id}': {
    params: {
      /** The identity: only the recipient has it */
      tracking_id: string
    }
    data: undefined
  }
  /** List transport rules in the order of application. Key(read) */
  '/transport-rules/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      enabled_only?: boolean
      /** For platform callers */
      organization_id?: string
    }
    data: {
      items: Array<TransportRule>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a transport rule. Key(read) */
  '/transport-rules/{rule_id}': {
    params: {
      rule_id: string
    }
    data: TransportRule
  }
  /** List blocked and allowed addresses, newest first. Key(read) */
  '/url-protection/blocklist': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      entry_type?: "url" | "domain" | "pattern" | "allowlist"
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      items: Array<UrlEntry>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List clicks of the last 30 days, newest first. Key(read) */
  '/url-protection/clicks': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      scan_result?: "safe" | "suspicious" | "blocked"
      /** Exact host */
      url_domain?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      items: Array<UrlClick>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Show the feed files of this process. Operator(support+) */
  '/url-protection/feeds': {
    data: Array<UrlFeedFile>
  }
  /** List addresses that are blocked or allowed for all organizations. Operator(support+) */
  '/url-protection/global/blocklist': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      entry_type?: "url" | "domain" | "pattern" | "allowlist"
    }
    data: {
      items: Array<UrlEntry>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** List the keys that sign links; the first signs new ones. Operator(support+) */
  '/url-protection/keys': {
    data: Array<UrlLinkKey>
  }
  /** Show whether links of incoming mail are checked. Key(read) */
  '/url-protection/settings': {
    query?: {
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: UrlProtectionSettings
  }
  /** List dashboard users and open invitations, by email. Key(read) */
  '/users/': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** For platform callers */
      organization_id?: string
      /** Part of email or full name */
      q?: string
      role?: "owner" | "admin" | "read_only"
      status?: "invited" | "active" | "disabled"
    }
    data: {
      items: Array<DashboardUser>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a dashboard user. Key(read) */
  '/users/{user_id}': {
    params: {
      user_id: string
    }
    data: DashboardUser
  }
  /** List the live sessions of a user, newest first. Key(read) */
  '/users/{user_id}/sessions': {
    params: {
      user_id: string
    }
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
    }
    data: {
      items: Array<UserSession>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get the rules for the logins of dashboard users. Key(read) */
  '/users/policy': {
    query?: {
      /** For platform callers */
      organization_id?: string
    }
    data: UserPolicy
  }
  /** Events that could not be delivered, newest first. Key(read) */
  '/webhooks/dead-letters': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** One of pending, retrying, resolved, abandoned; in any case */
      status?: string
      /** Exact */
      event_type?: string
      /** Exact */
      endpoint_id?: string
      /** Platform callers only */
      organization_id?: string
    }
    data: {
      items: Array<WebhookDeadLetter>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a dead letter with its original envelope. Operator(support+) */
  '/webhooks/dead-letters/{dead_letter_id}': {
    params: {
      dead_letter_id: string
    }
    data: WebhookDeadLetterDetail
  }
  /** Get a dead letter of the own organization with its original envelope. Key(read) */
  '/webhooks/dead-letters/{dead_letter_id}/mine': {
    params: {
      dead_letter_id: string
    }
    data: WebhookDeadLetterDetail
  }
  /** Every attempt to deliver an event, newest first. Key(read) */
  '/webhooks/deliveries': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** One of pending, delivered, failed, retrying, abandoned; in any case */
      status?: string
      /** The `id` of an envelope */
      event_id?: string
      /** Exact */
      event_type?: string
      /** Exact */
      endpoint_id?: string
      /** Exact */
      message_id?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive; a date means the end of that day */
      date_to?: string
      /** Platform callers only */
      organization_id?: string
    }
    data: {
      items: Array<WebhookDelivery>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get one attempt with the envelope that was sent. Key(read) */
  '/webhooks/deliveries/{delivery_id}': {
    params: {
      delivery_id: string
    }
    data: WebhookDeliveryDetail
  }
  /** List webhook endpoints, newest first. Key(read) */
  '/webhooks/endpoints': {
    query?: {
      /** From 1 */
      page?: number
      /** More than 200 means 200 */
      per_page?: number
      /** Platform callers only */
      organization_id?: string
    }
    data: {
      items: Array<WebhookEndpoint>
      pagination: {
        page: number
        per_page: number
        total: number
        total_pages: number
      }
    }
  }
  /** Get a webhook endpoint, without its secret. Key(read) */
  '/webhooks/endpoints/{endpoint_id}': {
    params: {
      endpoint_id: string
    }
    data: WebhookEndpoint
  }
  /** List the events that can be received, by name, with the shape of their data. Key(read) */
  '/webhooks/event-types': {
    data: {
      items: Array<WebhookEventType>
      total: number
    }
  }
  /** The brand to show on a host; empty when no verified custom domain is this host. None */
  '/whitelabel/brand': {
    query?: {
      /** A host name; unset: that of the request */
      host?: string
    }
    data: PublicBrand
  }
  /** The brand of an organization. Operator(admin+) */
  '/whitelabel/config/{org_id}': {
    params: {
      org_id: string
    }
    data: WhitelabelConfig
  }
  /** The login page as it would look. Operator(admin+) */
  '/whitelabel/config/{org_id}/preview': {
    params: {
      org_id: string
    }
    data: {
      organization_id: string
      html: string
    }
  }
  /** The login page as it would look, as a page for a frame of the console. Operator(admin+) */
  '/whitelabel/config/{org_id}/preview/page': {
    params: {
      org_id: string
    }
    data: undefined
  }
}

export interface Post {
  /** Create an alias; its organization is that of the domain. Key(write) */
  '/aliases/add': {
    body: {
      /** An address of one of your domains; `@domain` or `*@domain` catches all the rest */
      source: string
      /** Up to 100 addresses, separated by commas */
      destination: string
      /** 1 or 0, true or false */
      active?: number | boolean
    }
    data: {
      alias_id: string
      source: string
    }
  }
  /** Create several aliases, each on its own. Key(write) */
  '/aliases/add/bulk': {
    body: {
      /** At most 1000 */
      aliases: Array<{
        /** An address of one of your domains; `@domain` or `*@domain` catches all the rest */
        source: string
        /** Up to 100 addresses, separated by commas */
        destination: string
        /** 1 or 0, true or false */
        active?: number | boolean
      }>
    }
    data: {
      summary: {
        total: number
        success: number
        errors: number
      }
      results: Array<{
        source: string
        /** success or error */
        status: string
        msg: string
      }>
    }
  }
  /** Delete aliases. Key(write) */
  '/aliases/delete': {
    body?: Array<string>
    data: Array<{
      alias: string
      source?: string
      /** success or error */
      status: string
      msg: string
    }>
  }
  /** Change destinations of aliases, or switch them on and off. Key(write) */
  '/aliases/edit': {
    body: {
      /** Ids or sources, at most 1000 */
      items: Array<string>
      attr: {
        /** Up to 100 addresses, separated by commas */
        destination?: string
        /** 1 or 0, true or false */
        active?: number | boolean
      }
    }
    data: Array<{
      alias: string
      /** success or error */
      status: string
      msg: string
    }>
  }
  /** Generate a report; it is stored for 90 days. Key(read) */
  '/analytics/reports/generate': {
    body?: {
      /** Required */
      domain?: string
      /** dashboard, email-volume, engagement, deliverability, metrics; dashboard unless given */
      report_type?: string
      /** 30 unless given */
      days?: number
      /** Time zone of the days; default UTC */
      timezone?: string
    }
    data: Report
  }
  /** Have a report sent at intervals, by mail, to a webhook or both. Key(write) */
  '/analytics/reports/scheduled': {
    body?: {
      /** Required */
      domain?: string
      /** Required of platform callers */
      organization_id?: string
      report_type?: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
      /** weekly unless given; a report covers the time between two */
      interval?: "daily" | "weekly" | "monthly"
      recipients?: Array<string>
      /** Time zone of the days; default UTC */
      timezone?: string
      /** URL that reports are posted to, signed */
      webhook_url?: string | null
    }
    data: {
      schedule_id: string
      organization_id: string
      domain: string
      report_type: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
      interval: "daily" | "weekly" | "monthly"
      recipients: Array<string>
      timezone: string
      webhook_url: string | null
      created_at: string
      last_run_at: string | null
      /** Absent until the first run */
      last_error?: string | null
      /** Signs what is posted to webhook_url; shown once, when the URL is set */
      webhook_secret?: string
    }
  }
  /** Create an API key of an organization. Key(admin) */
  '/api-keys/': {
    body: {
      name: string
      /** read, write or admin, for the whole API or for one area: domains:write; default: write */
      scopes?: Array<"read" | "write" | "admin" | "activity:read" | "activity:write" | "activity:admin" | "aliases:read" | "aliases:write" | "aliases:admin" | "analytics:read" | "analytics:write" | "analytics:admin" | "api-keys:read" | "api-keys:write" | "api-keys:admin" | "archive:read" | "archive:write" | "archive:admin" | "caldav:read" | "caldav:write" | "caldav:admin" | "domains:read" | "domains:write" | "domains:admin" | "encryption:read" | "encryption:write" | "encryption:admin" | "filters:read" | "filters:write" | "filters:admin" | "mailboxes:read" | "mailboxes:write" | "mailboxes:admin" | "messages:read" | "messages:write" | "messages:admin" | "migration:read" | "migration:write" | "migration:admin" | "oauth:read" | "oauth:write" | "oauth:admin" | "organizations:read" | "organizations:write" | "organizations:admin" | "queue:read" | "queue:write" | "queue:admin" | "rag:read" | "rag:write" | "rag:admin" | "rate-limiter:read" | "rate-limiter:write" | "rate-limiter:admin" | "shared-mailboxes:read" | "shared-mailboxes:write" | "shared-mailboxes:admin" | "smtp-credentials:read" | "smtp-credentials:write" | "smtp-credentials:admin" | "storage:read" | "storage:write" | "storage:admin" | "suppressions:read" | "suppressions:write" | "suppressions:admin" | "templates:read" | "templates:write" | "templates:admin" | "tracking:read" | "tracking:write" | "tracking:admin" | "transport-rules:read" | "transport-rules:write" | "transport-rules:admin" | "url-protection:read" | "url-protection:write" | "url-protection:admin" | "users:read" | "users:write" | "users:admin" | "webhooks:read" | "webhooks:write" | "webhooks:admin">
      /** ISO date or datetime in the future; absent: no end */
      expires_at?: string | null
      /** For platform callers */
      organization_id?: string
    }
    data: {
      key_id: string
      name: string
      /** null for a platform key */
      organization_id: string | null
      organization_name: string | null
      scope: "organization" | "platform"
      /** read, write or admin, for the whole API or for one area: domains:write */
      scopes: Array<string>
      status: "active" | "expired" | "revoked"
      expires_at: string | null
      last_used: string | null
      /** null for a key of the command line */
      created_by: string | null
      created_at: string
      /** The secret; returned only in this response */
      api_key: string
    }
  }
  /** Revoke an API key at once; may be repeated. Key(admin) */
  '/api-keys/{key_id}/revoke': {
    params: {
      key_id: string
    }
    data: ApiKey
  }
  /** Replace an API key by a new one with the same name, scopes and expiry. Key(admin) */
  '/api-keys/{key_id}/rotate': {
    params: {
      key_id: string
    }
    body?: {
      /** Hours that the old key works beside the new one; 0 revokes it at once */
      overlap_hours?: number
    }
    data: {
      key_id: string
      name: string
      /** null for a platform key */
      organization_id: string | null
      organization_name: string | null
      scope: "organization" | "platform"
      /** read, write or admin, for the whole API or for one area: domains:write */
      scopes: Array<string>
      status: "active" | "expired" | "revoked"
      expires_at: string | null
      last_used: string | null
      /** null for a key of the command line */
      created_by: string | null
      created_at: string
      /** The secret; returned only in this response */
      api_key: string
    }
  }
  /** Read an archived message back, unchanged. Key(admin) */
  '/archive/{archive_id}/restore': {
    params: {
      archive_id: string
    }
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: undefined
  }
  /** Archive the existing mail of a mailbox, or seal the archive for the current keys. Key(admin) */
  '/archive/jobs': {
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    body: {
      /** import: the mail of a mailbox; rekey: seal all messages for the current keys */
      kind: "import" | "rekey"
      /** The mailbox of an import */
      email?: string
      /** Stored in the audit log */
      reason: string
    }
    data: ArchiveJob
  }
  /** Seal the archives of all organizations for the current keys. Operator(owner+) */
  '/archive/rekey': {
    body: {
      /** Also replace the key of the platform */
      new_platform_key?: boolean
      /** Stored in the audit log */
      reason: string
    }
    data: {
      jobs: number
    }
  }
  /** Set the password of an invitation or a password reset; every session ends. None */
  '/auth/links/accept': {
    body: {
      /** The part of the link after # */
      token: string
      /** 12 characters or more, with letters and numbers, not a common one */
      password: string
      full_name?: string
    }
    data: {
      account: "user" | "operator"
      /** Sign in with it and the new password */
      email: string
    }
  }
  /** Get the account of an invitation or a password reset. None */
  '/auth/links/inspect': {
    body: {
      /** The part of the link after # */
      token: string
    }
    data: {
      kind: "invitation" | "password_reset"
      account: "user" | "operator"
      email: string
      full_name: string | null
      /** null for an operator */
      organization_name: string | null
      expires_at: string
    }
  }
  /** Sign in to the dashboard. None */
  '/auth/login': {
    body: {
      email: string
      password: string
    }
    data: {
      user: {
        id: string
        email: string
        /** owner, admin or read_only; an operator has a role of the platform */
        role: string
        organization_id: string | null
      }
      organization: {
        id: string
        name: string
      }
      capabilities: CapabilityManifest
      /** The session is partial; call two-factor/verify next */
      two_factor_required: boolean
      /** false: call two-factor/setup first */
      two_factor_enrolled: boolean
    }
  }
  /** End the session and clear its cookies; does nothing for an API key. Key or session */
  '/auth/logout': {
    data: unknown
  }
  /** Change the own password; every other session ends. Dashboard session */
  '/auth/password': {
    body: {
      current_password: string
      /** 12 characters or more, with letters and numbers, not a common one */
      new_password: string
    }
    data: unknown
  }
  /** Mail a link to set a new password to a dashboard user. None */
  '/auth/password-reset': {
    body: {
      email: string
    }
    data: unknown
  }
  /** End every session of the user, this one included. Dashboard session */
  '/auth/sessions/revoke-all': {
    data: unknown
  }
  /** Disable the own second factor. Dashboard session */
  '/auth/two-factor/disable': {
    body: {
      /** 6-digit TOTP, or a backup code once enabled */
      code: string
    }
    data: unknown
  }
  /** Start the enrollment of a second factor. Dashboard session */
  '/auth/two-factor/setup': {
    data: {
      /** Base 32, for manual entry */
      secret: string
      otpauth_uri: string
      /** Each works once; returned only in this response */
      backup_codes: Array<string>
      digits: number
      period: number
      algorithm: string
    }
  }
  /** Confirm the second factor, or give its code as the second step of a login. Dashboard session */
  '/auth/two-factor/verify': {
    body: {
      /** 6-digit TOTP, or a backup code once enabled */
      code: string
    }
    data: unknown
  }
  /** Create the first organization, domain, mailbox, dashboard user and API key. X-Bootstrap-Token */
  '/bootstrap/': {
    body: {
      organization_name: string
      /** Its domain part becomes the first domain */
      admin_email: string
      /** 12 characters or more, with letters and numbers, not a common one */
      admin_password: string
    }
    data: {
      organization_id: string
      domain: string
      mailbox: string
      /** Shown this once only */
      api_key: string
    }
  }
  /** Create the usual address book of a mailbox, or one more with a name. Key(write) */
  '/caldav/addressbooks/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    body?: {
      /** Without a name the usual collections are created, if the mailbox has none */
      name?: string
    }
    data: {
      items: Array<{
        id: string
        /** As programs show it */
        name: string
        /** Path at which programs find it; null for those of a shared mailbox */
        path: string | null
        /** Components that a calendar takes, such as VEVENT; empty for an address book */
        components: Array<string>
        object_count: number
        bytes: number
        created_at: string
      }>
    }
  }
  /** Create the usual calendars of a mailbox, or one more with a name. Key(write) */
  '/caldav/calendars/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    body?: {
      /** Without a name the usual collections are created, if the mailbox has none */
      name?: string
    }
    data: {
      items: Array<{
        id: string
        /** As programs show it */
        name: string
        /** Path at which programs find it; null for those of a shared mailbox */
        path: string | null
        /** Components that a calendar takes, such as VEVENT; empty for an address book */
        components: Array<string>
        object_count: number
        bytes: number
        created_at: string
      }>
    }
  }
  /** Add a contact to the address book `contacts`, as a vCard or by fields. Key(write) */
  '/caldav/contacts/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    body?: {
      /** A whole vCard, stored as it is; the other fields are then ignored */
      vcard?: string
      name?: string
      email_addresses?: Array<string>
      phone_numbers?: Array<string>
    }
    data: {
      id: string
      address_book_id: string
      uid: string
    }
  }
  /** Build contacts from the people that a mailbox has written to. Key(write) */
  '/caldav/contacts/sync/{email}': {
    params: {
      /** Address of a mailbox or shared mailbox */
      email: string
    }
    data: {
      /** Contacts that were created by this request */
      added: number
      /** Addresses that the mailbox has written to */
      correspondents: number
    }
  }
  /** Record that a person granted or revoked consent. Operator(admin+) */
  '/compliance/consent/{user_email}': {
    params: {
      user_email: string
    }
    body: {
      /** `third_party` is stored as `third_party_sharing` */
      consent_type: string
      /** false revokes it */
      granted: boolean
      /** IP address of the person at that moment, when it is known */
      ip_address?: string | null
      /** Browser of the person at that moment, when it is known */
      user_agent?: string | null
    }
    data: Consent
  }
  /** Remove all data of a person in 30 days; a mailbox is deactivated now. Operator(owner+) */
  '/compliance/data-erasure/{user_email}': {
    params: {
      user_email: string
    }
    body: {
      /** Name or e-mail address of the person who requested it */
      requested_by: string
      /** Stored in the audit log */
      reason?: string
    }
    data: DataErasure
  }
  /** Cancel a scheduled erasure and reactivate the mailbox. Operator(owner+) */
  '/compliance/data-erasure/{user_email}/cancel': {
    params: {
      user_email: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: DataErasure
  }
  /** Request an archive of the stored data of a person. Operator(owner+) */
  '/compliance/data-export/{user_email}': {
    params: {
      user_email: string
    }
    body: {
      export_type?: "full" | "emails" | "contacts" | "settings"
      /** Name or e-mail address of the person who requested it */
      requested_by: string
    }
    data: DataExport
  }
  /** Copy the kept messages to the folder Recovered of the mailbox. Operator(owner+) */
  '/compliance/kept-mail/{user_email}/restore': {
    params: {
      user_email: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: RestoredMail
  }
  /** Place a legal hold, which keeps mail and blocks erasure, deletion and retention. Operator(owner+) */
  '/compliance/legal-holds': {
    body: {
      organization_id: string
      name: string
      description?: string | null
      /** E-mail addresses; none means every address of the organization */
      custodians?: Array<string>
      /** ISO date or datetime; absent or null: no end */
      end_date?: string | null
      /** Stored in the audit log */
      reason: string
    }
    data: LegalHold
  }
  /** Release a legal hold; its record remains. Operator(owner+) */
  '/compliance/legal-holds/{hold_id}/release': {
    params: {
      hold_id: number
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: LegalHold
  }
  /** Cancel a retention policy in its grace period; the previous one stays in force. Operator(admin+) */
  '/compliance/retention-policies/{organization_id}/cancel': {
    params: {
      organization_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: RetentionPolicy
  }
  /** Claim a domain; answers with the DNS records to publish. Key(write) */
  '/domains/': {
    body: {
      domain: string
      /** Platform callers only; required for them */
      organization_id?: string
      external_id?: string | null
      description?: string | null
      active?: boolean
      /** Bytes */
      max_quota?: number
      max_users?: number
      dkim_enabled?: boolean
      dkim_selector?: string
      tracking_enabled?: boolean
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
    }
    data: CreatedDomain
  }
  /** Make a new key; mail is signed with it once it is activated. Key(admin) */
  '/domains/{domain_id}/dkim-keys': {
    params: {
      domain_id: string
    }
    data: DkimKey
  }
  /** Sign with this key from now on; refused while DNS does not show its record. Key(admin) */
  '/domains/{domain_id}/dkim-keys/{selector}/activate': {
    params: {
      domain_id: string
      selector: string
    }
    data: {
      domain: string
      active_selector: string
      deactivated_selectors: Array<string>
      record_name: string
      record_value: string
      /** The signer knows */
      rspamd_synced: boolean
      warning: string
    }
  }
  /** Sign with this key from now on; refused while its record is not visible. Operator(operator+) */
  '/domains/{domain_id}/dkim/{selector}/activate': {
    params: {
      domain_id: string
      selector: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
      /** Although the record is not visible yet */
      force?: boolean
    }
    data: {
      domain: string
      active_selector: string
      deactivated_selectors: Array<string>
      record_name: string
      record_value: string
      /** The signer knows */
      rspamd_synced: boolean
      warning: string
    }
  }
  /** Make a new key; signing changes only when it is activated. Operator(operator+) */
  '/domains/{domain_id}/dkim/rotate': {
    params: {
      domain_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: {
      domain: string
      selector: string
      algorithm: string
      key_size: number
      active: false
      previous_active_selectors: Array<string>
      activate_url: string
      record_name: string
      record_type: "TXT"
      record_value: string
      /** The signer knows */
      rspamd_synced: boolean
      warning: string
    }
  }
  /** Confirm the ownership of a pending domain without its DNS record. Operator(operator+) */
  '/domains/{domain_id}/verify-ownership': {
    params: {
      domain_id: string
    }
    body: {
      /** Proof by which the ownership was established; stored in the audit trail */
      reason: string
    }
    data: Domain
  }
  /** Delete domains by name, with everything in them (older route). Key(write) */
  '/domains/delete/domain': {
    body?: Array<string>
    data: Array<{
      domain: string
      status: string
      msg: string
      stats?: {
        mailboxes_deleted: number
        aliases_deleted: number
      }
    }>
  }
  /** Change several domains by name (older route). Key(write) */
  '/domains/edit': {
    body: {
      /** Names or ids */
      items: Array<string>
      /** description, mailboxes, maxquota, quota, active; others are ignored */
      attr: Record<string, unknown>
    }
    data: Array<{
      domain: string
      status: string
      msg: string
    }>
  }
  /** Set the spam policy of a domain. Key(write) */
  '/domains/edit/domain/policy': {
    body: {
      domain: string
      policy_bl_only?: number
      policy_reject_spam?: number
      policy_greylist?: number
      policy_rbl?: number
    }
    data: unknown
  }
  /** Decrypt a text with a private key and its passphrase. Key(read) */
  '/encryption/pgp/decrypt': {
    body: {
      email: string
      passphrase: string
      /** In ASCII armour */
      encrypted_message: string
      sender_email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      message: string
      signatures: Array<{
        key_id: string
        valid: boolean
        problem: string | null
      }>
    }
  }
  /** Encrypt a text to the preferred keys of its recipients. Key(read) */
  '/encryption/pgp/encrypt': {
    body: {
      recipient_email?: string
      recipients?: Array<string>
      message: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      encrypted_message: string
    }
  }
  /** Make a key for a mailbox. Key(write) */
  '/encryption/pgp/generate': {
    body: {
      email: string
      name?: string
      /** Locks the private key; it is not stored, and a lost one cannot be replaced */
      passphrase: string
      /** ECC: Curve25519, made at once; RSA takes long and is a job */
      key_type?: "ECC" | "RSA"
      /** Of RSA, in bits */
      key_length?: 2048 | 3072 | 4096
      /** From now on in days, weeks, months or years; 0: never */
      expire_date?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: PgpKey
  }
  /** Store a key of a mailbox, or a public key of a correspondent. Key(write) */
  '/encryption/pgp/import': {
    body: {
      email: string
      /** A public or private key in ASCII armour */
      key: string
      /** For a private key: opens it, or locks it if it is open */
      passphrase?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: PgpKey
  }
  /** Encrypt to this key from now on, and publish it. Key(write) */
  '/encryption/pgp/keys/{fingerprint}/prefer': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: PgpKey
  }
  /** Sign a text with a private key and its passphrase. Key(read) */
  '/encryption/pgp/sign': {
    body: {
      email: string
      passphrase: string
      message: string
      detached?: boolean
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      signed_message: string
    }
  }
  /** Verify a signature with the stored keys of its sender. Key(read) */
  '/encryption/pgp/verify': {
    body: {
      message: string
      /** A detached signature in ASCII armour */
      signature?: string
      sender_email: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      /** There is a signature, and all of them are valid */
      valid: boolean
      message: string
      signatures: Array<{
        key_id: string
        valid: boolean
        problem: string | null
      }>
    }
  }
  /** Encrypt to this certificate from now on. Key(write) */
  '/encryption/smime/certs/{fingerprint}/prefer': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: SmimeCertificate
  }
  /** Decrypt a text with a private key and its passphrase. Key(read) */
  '/encryption/smime/decrypt': {
    body: {
      email: string
      passphrase: string
      /** application/pkcs7-mime with its header, or CMS in PEM */
      encrypted_message: string
      sender_email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      message: string
      signatures: Array<{
        /** Of the certificate of the signer */
        fingerprint: string | null
        signer: string | null
        valid: boolean
        /** A root of the operator, or the organization has stored the certificate */
        trusted_by: "root" | "stored" | null
        problem: string | null
      }>
    }
  }
  /** Encrypt a text to the preferred certificates of its recipients. Key(read) */
  '/encryption/smime/encrypt': {
    body: {
      recipient_email?: string
      recipients?: Array<string>
      /** Mail programs expect a MIME part with its header */
      message: string
      /** Fewer programs read aes-256-gcm, which detects changes */
      cipher?: "aes-256-cbc" | "aes-256-gcm"
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      encrypted_message: string
    }
  }
  /** Store a certificate of a mailbox or of a correspondent. Key(write) */
  '/encryption/smime/import': {
    body: {
      email: string
      /** In PEM: the certificate, others that vouch for it, and the private key, if any */
      certificate?: string
      /** A PKCS #12 file (.p12, .pfx) in Base64 instead */
      pkcs12?: string
      /** Opens the private key, and locks it here; it is not stored */
      passphrase?: string
      /** Locks the private key here, instead of the passphrase that opens it */
      new_passphrase?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: SmimeCertificate
  }
  /** Sign a text with a private key and its passphrase. Key(read) */
  '/encryption/smime/sign': {
    body: {
      email: string
      passphrase: string
      message: string
      detached?: boolean
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      signed_message: string
    }
  }
  /** Verify a signature by trusted roots and stored certificates. Key(read) */
  '/encryption/smime/verify': {
    body: {
      /** multipart/signed or application/pkcs7-mime with its header, or CMS in PEM */
      message: string
      /** Of the message, as CMS in PEM */
      signature?: string
      sender_email: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      /** There is a signature, and all of them are valid */
      valid: boolean
      message: string
      signatures: Array<{
        /** Of the certificate of the signer */
        fingerprint: string | null
        signer: string | null
        valid: boolean
        /** A root of the operator, or the organization has stored the certificate */
        trusted_by: "root" | "stored" | null
        problem: string | null
      }>
    }
  }
  /** Create a script of a mailbox, or replace the script with this name. Key(write) */
  '/filters/': {
    query: {
      /** E-mail address of the mailbox */
      email: string
    }
    body: {
      /** Letters, digits, _ and - */
      name: string
      /** Sieve, RFC 5228 */
      content: string
      active?: boolean
      /** Deactivate a script that the mailbox holder's own mail client has activated */
      replace?: boolean
    }
    data: {
      name: string
      active: boolean
    }
  }
  /** Set the vacation responder of a mailbox, or turn it off. Key(write) */
  '/filters/vacation': {
    query: {
      /** E-mail address of the mailbox */
      email: string
    }
    body: {
      enabled: boolean
      subject?: string
      message?: string | null
      /** ISO date */
      start_date?: string | null
      /** ISO date */
      end_date?: string | null
      /** Seconds between replies to one sender; whole days, at least one */
      reply_interval?: number
      /** Send no reply to senders of the same domain */
      external_only?: boolean
      /** Deactivate a script that the mailbox holder's own mail client has activated */
      replace?: boolean
    }
    data: {
      enabled: boolean
    }
  }
  /** Sign in as the holder of a mailbox. None */
  '/mailbox-auth/login': {
    body: {
      email_address: string
      password: string
      /** TOTP or recovery code, on the second try */
      two_factor_code?: string
    }
    data: {
      two_factor_required?: true
      /** For `Authorization: Bearer` */
      token?: string
      csrf_token?: string
      expires_at?: string
      email_address?: string
      email_account?: {
        id: string
        email_address: string
        name: string | null
      }
      must_change_password?: boolean
      password_change_reason?: string | null
      client_platform?: string | null
      idle_timeout_seconds?: number
    }
  }
  /** End the mailbox session; may be repeated. Mailbox session */
  '/mailbox-auth/logout': {
    data: unknown
  }
  /** Create a password for one mail program; it is shown once. Mailbox session */
  '/mailbox/app-passwords': {
    body: {
      /** The program or device that gets it */
      name: string
      /** `imap` reads mail (POP3 too), `smtp` sends, `sieve` edits filters, `dav` is for calendars and contacts, `jmap` for JMAP programs */
      scopes: Array<"imap" | "smtp" | "sieve" | "dav" | "jmap">
    }
    data: NewAppPassword
  }
  /** Block a sender. Mailbox session */
  '/mailbox/blocked-senders': {
    body: {
      address: string
    }
    data: MailboxBlockedSenders
  }
  /** Decrypt a text with an own private key and its passphrase. Mailbox session */
  '/mailbox/encryption/pgp/decrypt': {
    body: {
      passphrase: string
      /** In ASCII armour */
      encrypted_message: string
      sender_email?: string
    }
    data: {
      message: string
      signatures: Array<{
        key_id: string
        valid: boolean
        problem: string | null
      }>
    }
  }
  /** Encrypt a text to keys that the organization has stored. Mailbox session */
  '/mailbox/encryption/pgp/encrypt': {
    body: {
      recipient_email?: string
      recipients?: Array<string>
      message: string
    }
    data: {
      encrypted_message: string
    }
  }
  /** Make an own key. Mailbox session */
  '/mailbox/encryption/pgp/generate': {
    body: {
      name?: string
      /** Locks the private key; it is not stored, and a lost one cannot be replaced */
      passphrase: string
      /** ECC: Curve25519, made at once; RSA takes long and is a job */
      key_type?: "ECC" | "RSA"
      /** Of RSA, in bits */
      key_length?: 2048 | 3072 | 4096
      /** From now on in days, weeks, months or years; 0: never */
      expire_date?: string
    }
    data: PgpKey
  }
  /** Store an own key that another program made. Mailbox session */
  '/mailbox/encryption/pgp/import': {
    body: {
      /** A public or private key in ASCII armour */
      key: string
      /** For a private key: opens it, or locks it if it is open */
      passphrase?: string
    }
    data: PgpKey
  }
  /** Encrypt to this own key from now on, and publish it. Mailbox session */
  '/mailbox/encryption/pgp/keys/{fingerprint}/prefer': {
    params: {
      fingerprint: string
    }
    data: PgpKey
  }
  /** Sign a text with an own private key and its passphrase. Mailbox session */
  '/mailbox/encryption/pgp/sign': {
    body: {
      passphrase: string
      message: string
      detached?: boolean
    }
    data: {
      signed_message: string
    }
  }
  /** Verify a signature with the stored keys of its sender. Mailbox session */
  '/mailbox/encryption/pgp/verify': {
    body: {
      message: string
      /** A detached signature in ASCII armour */
      signature?: string
      sender_email: string
    }
    data: {
      /** There is a signature, and all of them are valid */
      valid: boolean
      message: string
      signatures: Array<{
        key_id: string
        valid: boolean
        problem: string | null
      }>
    }
  }
  /** Encrypt to this own certificate from now on. Mailbox session */
  '/mailbox/encryption/smime/certs/{fingerprint}/prefer': {
    params: {
      fingerprint: string
    }
    data: SmimeCertificate
  }
  /** Decrypt a text with an own private key and its passphrase. Mailbox session */
  '/mailbox/encryption/smime/decrypt': {
    body: {
      passphrase: string
      /** application/pkcs7-mime with its header, or CMS in PEM */
      encrypted_message: string
      sender_email?: string
    }
    data: {
      message: string
      signatures: Array<{
        /** Of the certificate of the signer */
        fingerprint: string | null
        signer: string | null
        valid: boolean
        /** A root of the operator, or the organization has stored the certificate */
        trusted_by: "root" | "stored" | null
        problem: string | null
      }>
    }
  }
  /** Encrypt a text to certificates that the organization has stored. Mailbox session */
  '/mailbox/encryption/smime/encrypt': {
    body: {
      recipient_email?: string
      recipients?: Array<string>
      /** Mail programs expect a MIME part with its header */
      message: string
      /** Fewer programs read aes-256-gcm, which detects changes */
      cipher?: "aes-256-cbc" | "aes-256-gcm"
    }
    data: {
      encrypted_message: string
    }
  }
  /** Store an own certificate, with or without its private key. Mailbox session */
  '/mailbox/encryption/smime/import': {
    body?: {
      /** In PEM: the certificate, others that vouch for it, and the private key, if any */
      certificate?: string
      /** A PKCS #12 file (.p12, .pfx) in Base64 instead */
      pkcs12?: string
      /** Opens the private key, and locks it here; it is not stored */
      passphrase?: string
      /** Locks the private key here, instead of the passphrase that opens it */
      new_passphrase?: string
    }
    data: SmimeCertificate
  }
  /** Sign a text with an own private key and its passphrase. Mailbox session */
  '/mailbox/encryption/smime/sign': {
    body: {
      passphrase: string
      message: string
      detached?: boolean
    }
    data: {
      signed_message: string
    }
  }
  /** Verify a signature by trusted roots and stored certificates. Mailbox session */
  '/mailbox/encryption/smime/verify': {
    body: {
      /** multipart/signed or application/pkcs7-mime with its header, or CMS in PEM */
      message: string
      /** Of the message, as CMS in PEM */
      signature?: string
      sender_email: string
    }
    data: {
      /** There is a signature, and all of them are valid */
      valid: boolean
      message: string
      signatures: Array<{
        /** Of the certificate of the signer */
        fingerprint: string | null
        signer: string | null
        valid: boolean
        /** A root of the operator, or the organization has stored the certificate */
        trusted_by: "root" | "stored" | null
        problem: string | null
      }>
    }
  }
  /** Choose a new password; every other session of the mailbox ends. Mailbox session */
  '/mailbox/password': {
    body: {
      current_password: string
      /** 12 characters or more, with letters and numbers, not a common one */
      new_password: string
    }
    data: {
      /** Other sessions of this mailbox that ended */
      sessions_revoked: number
    }
  }
  /** Evaluate the rules for a message without sending it. Mailbox session */
  '/mailbox/rules/test': {
    body?: {
      /** Decoded */
      from?: string
      /** Decoded */
      to?: string
      /** Decoded */
      cc?: string
      /** Decoded */
      subject?: string
      /** Plain text */
      body?: string
      /** At most 50; they run in this order */
      rules?: Array<NewMailboxRule>
    }
    data: MailboxRulesOutcome
  }
  /** Enable the second factor with its first code. Mailbox session */
  '/mailbox/two-factor/confirm': {
    body: {
      /** The code of the authenticator application */
      code: string
    }
    data: unknown
  }
  /** Begin to set up a second factor. Mailbox session */
  '/mailbox/two-factor/setup': {
    data: {
      /** Base 32; shown this once only */
      secret: string
      /** For a QR code */
      otpauth_uri: string
      /** Each works once, in place of a code; shown this once only */
      backup_codes: Array<string>
      digits: number
      /** Seconds */
      period: number
      algorithm: string
    }
  }
  /** Create a mailbox (older route). Key(write) */
  '/mailboxes/add': {
    body: {
      local_part: string
      domain: string
      /** 12 characters or more, with letters and numbers, not a common one */
      password: string
      name?: string | null
      /** Bytes; left out, 0 when the domain has less than the default left to allot */
      quota?: number
      active?: number
      /** Must equal local_part@domain */
      email?: string
    }
    data: {
      /** Id of the account */
      user_id: string
      email: string
    }
  }
  /** Delete mailboxes by address, also from the aliases that lead to them (older route). Key(write) */
  '/mailboxes/delete': {
    body?: Array<string>
    data: Array<{
      mailbox: string
      status: string
      msg: string
      stats?: {
        /** Number of aliases that led to this mailbox only */
        aliases_deleted: number
        /** Always 0 */
        messages_deleted: number
      }
    }>
  }
  /** Change several mailboxes by address (older route). Key(write) */
  '/mailboxes/edit': {
    body: {
      /** Addresses */
      items: Array<string>
      /** name, quota (bytes), active, password; others are ignored */
      attr: Record<string, unknown>
    }
    data: Array<{
      mailbox: string
      status: string
      msg: string
    }>
  }
  /** Set the storage quota of a mailbox (older route). Key(write) */
  '/mailboxes/edit/quota': {
    body: {
      mailbox: string
      /** Bytes */
      quota: number
    }
    data: unknown
  }
  /** Create a mailbox. Key(write) */
  '/mailboxes/email-accounts': {
    body: {
      /** At a domain that is there and active; the organization is that of the domain */
      email: string
      /** 12 characters or more, with letters and numbers, not a common one */
      password: string
      name?: string | null
      status?: "active" | "inactive" | "suspended"
      /** Bytes; 0 = no limit of its own, the domain's applies. Left out, a new mailbox gets 1 GiB, or 0 when the domain has less left to allot */
      storage_quota?: number
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
      forward_enabled?: boolean
      /** Addresses, with commas between them */
      forward_destination?: string | null
      vacation_enabled?: boolean
      vacation_message?: string | null
      external_id?: string | null
    }
    data: EmailAccount
  }
  /** Give a mailbox a new password and end its holder's sessions. Key(write) */
  '/mailboxes/email-accounts/{account_id}/reset-password': {
    params: {
      account_id: string
    }
    body: {
      /** 12 characters or more, with letters and numbers, not a common one */
      new_password: string
      /** The holder must then choose another one */
      temporary?: boolean
      /** temporary or admin_reset */
      reason?: string
    }
    data: {
      account_id: string
      email: string
      must_change_password: boolean
      password_change_reason: string | null
      password_changed_at: string
      sessions_revoked: number
      /** Dovecot has forgotten the old password */
      cache_flushed: boolean
    }
  }
  /** Clear the holder's second factor and end the sessions. Key(write) */
  '/mailboxes/email-accounts/{account_id}/two-factor-reset': {
    params: {
      account_id: string
    }
    data: {
      account_id: string
      /** A second factor was enrolled */
      two_factor_cleared: boolean
      sessions_revoked: number
    }
  }
  /** Create up to 500 mailboxes, each on its own. Key(write) */
  '/mailboxes/email-accounts/bulk': {
    body: {
      /** At most 500 */
      accounts: Array<{
        /** At a domain that is there and active; the organization is that of the domain */
        email: string
        /** 12 characters or more, with letters and numbers, not a common one */
        password: string
        name?: string | null
        status?: "active" | "inactive" | "suspended"
        /** Bytes; 0 = no limit of its own, the domain's applies. Left out, a new mailbox gets 1 GiB, or 0 when the domain has less left to allot */
        storage_quota?: number
        /** Limits of the rate limiter; replaces the whole object */
        rate_limits?: Record<string, unknown>
        /** Free-form */
        storage_quotas?: Record<string, unknown>
        forward_enabled?: boolean
        /** Addresses, with commas between them */
        forward_destination?: string | null
        vacation_enabled?: boolean
        vacation_message?: string | null
        external_id?: string | null
      }>
    }
    data: {
      summary: {
        total: number
        success: number
        errors: number
      }
      /** One result for each mailbox, in the order of the request */
      results: Array<{
        email: string
        /** success or error */
        status: string
        msg: string
        /** Of the new mailbox */
        account_id?: string
        error_code?: string
      }>
    }
  }
  /** Drop a message that was held back, and refuse its sender from outside from now on. Operator(operator+) */
  '/message-trace/quarantine/{quarantine_id}/block': {
    params: {
      quarantine_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: {
      id: string
      organization_id: string | null
      message_id: string | null
      queue_id: string | null
      sender: string
      /** Of outgoing mail; null for mail that came in */
      login: string | null
      recipient: string
      subject: string | null
      reason: string
      spam_score: number | null
      virus_name: string | null
      rule_id: string | null
      headers: Record<string, unknown>
      status: string
      released_by: string | null
      released_at: string | null
      expires_at: string
      created_at: string
      threat_level: "low" | "medium" | "high" | "critical"
      /** false for outgoing mail, and when it belongs to no organization */
      sender_blocked: boolean
    }
  }
  /** Drop a message that was held back, and nothing else. Operator(operator+) */
  '/message-trace/quarantine/{quarantine_id}/delete': {
    params: {
      quarantine_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: QuarantinedMessage
  }
  /** Deliver a message that was held back. Operator(admin+) */
  '/message-trace/quarantine/{quarantine_id}/release': {
    params: {
      quarantine_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: QuarantinedMessage
  }
  /** Send a message. Key(write) */
  '/messages/': {
    body: {
      /** An address at an active domain of the organization, with or without a name */
      from: string
      /** Addresses that answers go to */
      reply_to?: Array<string>
      /** `X-…`, `List-…`, `In-Reply-To`, `References`, `Auto-Submitted`, `Precedence` and `Importance` */
      headers?: Record<string, string>
      /** At most 10 MB together, before base64 */
      attachments?: Array<{
        filename: string
        /** Base64 */
        content: string
        content_type?: string
        /** For images in the HTML: `<img src="cid:…">` */
        content_id?: string
      }>
      to: Array<string>
      /** Copies */
      cc?: Array<string>
      /** Copies that the other recipients do not see */
      bcc?: Array<string>
      subject: string
      html?: string
      /** Made from the HTML when it is absent */
      text?: string
    }
    data: AcceptedMessages
  }
  /** Copy a mailbox of this host to another server. Key(write) */
  '/migration/export': {
    body: {
      /** A mailbox of this host */
      source_email: string
      source_password: string
      /** Name or address of the other IMAP server */
      target_host: string
      target_port?: number
      /** TLS from the first byte; false: STARTTLS where the server has it */
      target_ssl?: boolean
      /** Refuse a certificate that cannot be verified */
      target_tls_verify?: boolean
      target_username: string
      /** The password there, or an OAuth2 access token */
      target_password: string
      /** `oauth2`: the password is an access token */
      target_auth?: "password" | "oauth2"
      /** A folder and those inside it get another name */
      folder_mapping?: Array<{
        source: string
        target: string
      }>
      /** Folders of the source that stay behind, with those inside them */
      exclude_folders?: Array<string>
      /** URL that receives the events of this job */
      webhook_url?: string | null
    }
    data: {
      success: true
      timestamp: string
      job_id: string
      direction: "import" | "export"
      status: "pending" | "running" | "completed" | "failed" | "cancelled"
      message: string
    }
  }
  /** Create migration jobs for many mailboxes, all or none. Key(write) */
  '/migration/export/bulk': {
    body: {
      accounts: Array<{
        /** A mailbox of this host */
        source_email: string
        source_password: string
        /** Name or address of the other IMAP server */
        target_host: string
        target_port?: number
        /** TLS from the first byte; false: STARTTLS where the server has it */
        target_ssl?: boolean
        /** Refuse a certificate that cannot be verified */
        target_tls_verify?: boolean
        target_username: string
        /** The password there, or an OAuth2 access token */
        target_password: string
        /** `oauth2`: the password is an access token */
        target_auth?: "password" | "oauth2"
        /** A folder and those inside it get another name */
        folder_mapping?: Array<{
          source: string
          target: string
        }>
        /** Folders of the source that stay behind, with those inside them */
        exclude_folders?: Array<string>
        /** URL that receives the events of this job */
        webhook_url?: string | null
      }>
      /** A folder and those inside it get another name */
      folder_mapping?: Array<{
        source: string
        target: string
      }>
      /** Folders of the source that stay behind, with those inside them */
      exclude_folders?: Array<string>
      /** URL that receives the events of this job */
      webhook_url?: string | null
    }
    data: {
      success: true
      timestamp: string
      direction: "import" | "export"
      total_jobs: number
      jobs: Array<{
        job_id: string
        target_email: string
      }>
      message: string
    }
  }
  /** Copy a mailbox of another server into one of this host. Key(write) */
  '/migration/import': {
    body: {
      /** Name or address of the other IMAP server */
      source_host: string
      source_port?: number
      /** TLS from the first byte; false: STARTTLS where the server has it */
      source_ssl?: boolean
      /** Refuse a certificate that cannot be verified */
      source_tls_verify?: boolean
      source_username: string
      /** The password there, or an OAuth2 access token */
      source_password: string
      /** `oauth2`: the password is an access token */
      source_auth?: "password" | "oauth2"
      /** A mailbox of this host */
      target_email: string
      target_password: string
      /** A folder and those inside it get another name */
      folder_mapping?: Array<{
        source: string
        target: string
      }>
      /** Folders of the source that stay behind, with those inside them */
      exclude_folders?: Array<string>
      /** URL that receives the events of this job */
      webhook_url?: string | null
    }
    data: {
      success: true
      timestamp: string
      job_id: string
      direction: "import" | "export"
      status: "pending" | "running" | "completed" | "failed" | "cancelled"
      message: string
    }
  }
  /** Create migration jobs for many mailboxes, all or none. Key(write) */
  '/migration/import/bulk': {
    body: {
      accounts: Array<{
        /** Name or address of the other IMAP server */
        source_host: string
        source_port?: number
        /** TLS from the first byte; false: STARTTLS where the server has it */
        source_ssl?: boolean
        /** Refuse a certificate that cannot be verified */
        source_tls_verify?: boolean
        source_username: string
        /** The password there, or an OAuth2 access token */
        source_password: string
        /** `oauth2`: the password is an access token */
        source_auth?: "password" | "oauth2"
        /** A mailbox of this host */
        target_email: string
        target_password: string
        /** A folder and those inside it get another name */
        folder_mapping?: Array<{
          source: string
          target: string
        }>
        /** Folders of the source that stay behind, with those inside them */
        exclude_folders?: Array<string>
        /** URL that receives the events of this job */
        webhook_url?: string | null
      }>
      /** A folder and those inside it get another name */
      folder_mapping?: Array<{
        source: string
        target: string
      }>
      /** Folders of the source that stay behind, with those inside them */
      exclude_folders?: Array<string>
      /** URL that receives the events of this job */
      webhook_url?: string | null
    }
    data: {
      success: true
      timestamp: string
      direction: "import" | "export"
      total_jobs: number
      jobs: Array<{
        job_id: string
        target_email: string
      }>
      message: string
    }
  }
  /** Stop a job; what it has copied stays. Key(write) */
  '/migration/jobs/{job_id}/cancel': {
    params: {
      job_id: string
    }
    data: {
      success: true
      timestamp: string
      job_id: string
      status: "pending" | "running" | "completed" | "failed" | "cancelled"
      message: string
    }
  }
  /** Create a job for what has changed since. Key(write) */
  '/migration/jobs/{job_id}/delta': {
    params: {
      job_id: string
    }
    body?: {
      /** Replaces the kept one; needed only after `MIGRATION_CREDENTIALS_HOURS` */
      source_password?: string
      /** Replaces the kept one; needed only after `MIGRATION_CREDENTIALS_HOURS` */
      target_password?: string
    }
    data: {
      success: true
      timestamp: string
      job_id: string
      direction: "import" | "export"
      status: "pending" | "running" | "completed" | "failed" | "cancelled"
      message: string
      parent_job_id: string
      is_delta: boolean
      is_retry: boolean
    }
  }
  /** Create a job for the messages that failed. Key(write) */
  '/migration/jobs/{job_id}/retry-failed': {
    params: {
      job_id: string
    }
    body?: {
      /** Replaces the kept one; needed only after `MIGRATION_CREDENTIALS_HOURS` */
      source_password?: string
      /** Replaces the kept one; needed only after `MIGRATION_CREDENTIALS_HOURS` */
      target_password?: string
    }
    data: {
      success: true
      timestamp: string
      job_id: string
      direction: "import" | "export"
      status: "pending" | "running" | "completed" | "failed" | "cancelled"
      message: string
      parent_job_id: string
      is_delta: boolean
      is_retry: boolean
    }
  }
  /** Restart what is down and can be restarted from here. Operator(operator+) */
  '/monitoring/auto-heal': {
    body?: {
      /** Absent: those that carry mail */
      services?: Array<string>
      dry_run?: boolean
      /** Kept in the audit trail */
      reason?: string
    }
    data: {
      status: "completed"
      dry_run: boolean
      actions_taken: Array<{
        service: string
        action: "none" | "restarted" | "would_restart" | "failed"
        reason: string
      }>
      timestamp: string
    }
  }
  /** Restart a service that runs beside this process. Operator(operator+) */
  '/monitoring/services/{service_name}/restart': {
    params: {
      service_name: string
    }
    body?: {
      /** Although it was restarted often lately */
      force?: boolean
      /** Kept in the audit trail */
      reason?: string
    }
    data: {
      service: string
      action: "restart"
      status: "success"
      message: string
      timestamp: string
    }
  }
  /** Post a test to addresses that are configured. Operator(operator+) */
  '/monitoring/webhooks/test': {
    body?: {
      /** Some of the configured ones */
      webhook_urls?: Array<string>
      payload_type?: "ping" | "alert" | "recovery"
      /** Kept in the audit trail */
      reason?: string
    }
    data: {
      status: "completed"
      payload_type: string
      results: Array<{
        url: string
        delivered: boolean
        status_code: number | null
        error: string | null
        /** Milliseconds */
        response_time: number
      }>
      timestamp: string
    }
  }
  /** Register a program that signs mailbox holders in, or that uses the API. Key(write) */
  '/oauth/clients': {
    body: {
      /** Shown to holders who sign in */
      name: string
      /** `public`: a program on the device of a person, which can keep no secret */
      client_type?: "confidential" | "public"
      /** Compared exactly. `https`; for public clients also `http` on loopback, where the port is free, and schemes of the program itself such as `com.example.mail:/signed-in` */
      redirect_uris?: Array<string>
      /** Without it: `authorization_code` and `refresh_token` */
      grant_types?: Array<"authorization_code" | "refresh_token" | "device_code" | "client_credentials">
      /** Scopes that holders can grant; not for `client_credentials` */
      scopes?: Array<"openid" | "email" | "offline_access" | "imap" | "pop" | "smtp" | "sieve" | "dav" | "jmap">
      /** For `client_credentials`: the API key whose rights the client gets. Without it, the key of this request */
      key_id?: string
      /** For platform callers; without it, a client of the host */
      organization_id?: string
    }
    data: IssuedOauthClient
  }
  /** Replace the secret of an OAuth client; its tokens stay valid. Key(write) */
  '/oauth/clients/{client_id}/rotate-secret': {
    params: {
      client_id: string
    }
    data: IssuedOauthClient
  }
  /** Create an organization. Operator(admin+) */
  '/organizations/': {
    body: {
      /** Letters, digits, hyphens, underscores; at most 26 */
      id: string
      name: string
      external_id?: string | null
      description?: string | null
      /** Platform callers only */
      active?: boolean
      admin_email?: string | null
      admin_name?: string | null
      /** Free-form */
      settings?: Record<string, unknown>
      /** Operators only */
      rate_limits?: Record<string, unknown>
      /** Operators only */
      storage_quotas?: Record<string, unknown>
      webhook_urls?: Array<string>
      /** Write-only */
      webhook_secret?: string | null
      /** transactional, marketing or both; platform callers only */
      sending_profile?: string
    }
    data: Organization
  }
  /** Clear the quota override; the values do not change. Operator(admin+) */
  '/organizations/{organization_id}/quotas/clear-override': {
    params: {
      organization_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: {
      organization_id: string
      quota_override: false
    }
  }
  /** Create an alert channel. Operator(operator+) */
  '/platform/alerts/channels': {
    body: {
      name: string
      type: "email" | "webhook"
      /** An e-mail address, or an absolute http or https URL */
      target: string
      enabled?: boolean
      /** Stored encrypted and never returned */
      signing_secret?: string | null
    }
    data: AlertChannel
  }
  /** Send a test through a channel; returns 200 also when delivery fails. Operator(operator+) */
  '/platform/alerts/channels/{channel_id}/test': {
    params: {
      channel_id: string
    }
    data: {
      type: "success" | "error"
      msg: string
      data: {
        channel_id: string
        delivered: boolean
        error: string | null
      }
    }
  }
  /** Create an alert rule. Operator(operator+) */
  '/platform/alerts/rules': {
    body: {
      name: string
      description?: string | null
      metric: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
      comparator: ">" | ">=" | "<" | "<=" | "=="
      threshold: number
      for_seconds?: number
      severity?: "critical" | "warning" | "info"
      enabled?: boolean
      channel_ids?: Array<string>
      organization_id?: string | null
    }
    data: AlertRule
  }
  /** Dry run of a rule on live data; sends and records nothing. Operator(operator+) */
  '/platform/alerts/rules/{rule_id}/evaluate': {
    params: {
      rule_id: string
    }
    data: {
      rule_id: string
      name: string
      metric: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
      comparator: ">" | ">=" | "<" | "<=" | "=="
      threshold: number
      unit: string
      value: number | null
      /** The condition holds now; for_seconds is ignored */
      would_fire: boolean
      severity: "critical" | "warning" | "info"
      enabled: boolean
      for_seconds: number
      for_seconds_honoured: false
      unavailable_reason: string | null
      message: string
      evaluated_at: string
      notified: false
      recorded: false
    }
  }
  /** Add the default rules (disk, backups, deferred mail, block lists) that are missing. Operator(operator+) */
  '/platform/alerts/rules/defaults': {
    body?: {
      channel_ids?: Array<string>
    }
    data: {
      /** The added rules; empty when none was missing */
      items: Array<AlertRule>
    }
  }
  /** Create the first operator, with role owner. X-Bootstrap-Token */
  '/platform/auth/bootstrap': {
    body: {
      email: string
      full_name: string
      /** At least 12 characters with letters and numbers; common passwords are rejected */
      password: string
    }
    data: {
      operator_id: string
      email: string
      role: "owner"
    }
  }
  /** First step of an operator login. None */
  '/platform/auth/login': {
    body: {
      email: string
      password: string
    }
    data: {
      operator: {
        id: string
        email: string
        role: "support" | "operator" | "admin" | "owner"
      }
      mfa_required: boolean
      /** false: call mfa/setup first */
      mfa_enrolled: boolean
    }
  }
  /** End the operator session and clear its cookies; may be repeated. Platform(read) */
  '/platform/auth/logout': {
    data: unknown
  }
  /** Second step of an operator login. Operator session (partial) */
  '/platform/auth/mfa': {
    body: {
      /** 6-digit TOTP, or a backup code once enrolled */
      token: string
    }
    data: {
      operator: {
        id: string
        email: string
        role: "support" | "operator" | "admin" | "owner"
      }
    }
  }
  /** Get new backup codes against the password or a current code. Operator(support+) */
  '/platform/auth/mfa/backup-codes': {
    body?: {
      current_password?: string
      /** A current 6-digit TOTP instead of the password, or a backup code */
      token?: string
    }
    data: {
      /** Each works once; returned only in this response. Earlier ones no longer work */
      backup_codes: Array<string>
    }
  }
  /** Start the enrollment of a second factor. Operator session (partial) */
  '/platform/auth/mfa/setup': {
    data: {
      /** Base 32, for manual entry */
      secret: string
      otpauth_uri: string
      /** Each works once; returned only in this response */
      backup_codes: Array<string>
      digits: number
      period: number
      algorithm: string
    }
  }
  /** Change the own password; every other session ends. Operator(support+) */
  '/platform/auth/password': {
    body: {
      current_password: string
      /** 12 characters or more, with letters and numbers, not a common one */
      new_password: string
    }
    data: unknown
  }
  /** Report the start or the end of a backup run. Operator(admin+) */
  '/platform/backups/report': {
    body: {
      /** Identifies the run on its host; a later report with the same id updates the run */
      backup_id: string
      hostname: string
      backup_type?: "full" | "incremental" | "differential"
      target?: "database" | "mail" | "config" | "all"
      status: "running" | "completed" | "failed"
      size_bytes?: number
      storage_path?: string | null
      checksum?: string | null
      encrypted?: boolean
      error_message?: string | null
    }
    data: {
      id: number
      backup_id: string
    }
  }
  /** Add a mail host; the first backend has all existing mailboxes. Operator(admin+) */
  '/platform/mail-hosts': {
    body: {
      /** As given to `edge render --host`; it cannot be changed */
      name: string
      /** A backend has no other role */
      roles: Array<"proxy" | "backend" | "mx" | "submission" | "outbound">
      /** Name or IP address in the private network; outside of loopback its certificate has it */
      address: string
      /** IMAP with TLS */
      imap_port?: number
      /** POP3 with TLS */
      pop3_port?: number
      /** ManageSieve */
      sieve_port?: number
      /** Deliveries of Postfix */
      lmtp_port?: number
      /** Copies from other backends */
      sync_port?: number
      /** Dovecot's HTTP administration interface */
      doveadm_url?: string
    }
    data: MailHost
  }
  /** Move all mailboxes of a backend to the others. Operator(admin+) */
  '/platform/mail-hosts/{host_id}/drain': {
    params: {
      host_id: string
    }
    data: {
      host_id: string
      state: "active" | "draining" | "away"
      /** Moves that were started */
      moves: number
    }
  }
  /** Move a mailbox to another mail host, with those that share folders with it. Operator(operator+) */
  '/platform/mailbox-moves': {
    body: {
      /** A mailbox or a shared mailbox */
      email: string
      /** The backend that gets the mailbox */
      host_id: string
    }
    data: {
      /** Shared mailboxes and their members move together */
      moves: Array<MailboxMove>
    }
  }
  /** Cancel a move before the mailbox changes its host. Operator(operator+) */
  '/platform/mailbox-moves/{move_id}/cancel': {
    params: {
      move_id: string
    }
    data: MailboxMove
  }
  /** Create an operator. Operator(owner+) */
  '/platform/operators': {
    body: {
      email: string
      full_name: string
      /** At least 12 characters with letters and numbers; common passwords are rejected */
      password: string
      role: "support" | "operator" | "admin" | "owner"
    }
    data: Operator
  }
  /** Clear the second factor of an operator and end their sessions. Operator(owner+) */
  '/platform/operators/{operator_id}/mfa-reset': {
    params: {
      operator_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      operator_id: string
      /** A second factor was enrolled */
      mfa_cleared: boolean
      sessions_revoked: number
    }
  }
  /** Create and mail a link to set a new password for an operator. Operator(owner+) */
  '/platform/operators/{operator_id}/password-reset': {
    params: {
      operator_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      operator_id: string
      /** Mailed too; hand it over when mail fails */
      link: string
      expires_at: string
    }
  }
  /** End every session of an operator. Operator(owner+) */
  '/platform/operators/{operator_id}/sessions/revoke': {
    params: {
      operator_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      operator_id: string
      /** Sessions that this call ended */
      revoked: number
    }
  }
  /** Retry the provisioning of a mailbox or domain. Operator(operator+) */
  '/platform/provisioning-failures/{resource_type}/{resource_id}/retry': {
    params: {
      resource_type: "mailbox" | "domain"
      resource_id: string
    }
    body: {
      reason: string
    }
    data: {
      resource_type: "mailbox" | "domain"
      id: string
      status: "pending"
    }
  }
  /** Send a test mail the way that invitations, resets, alerts and notices go. Operator(operator+) */
  '/platform/system-mail/test': {
    body: {
      /** Recipient of the test mail */
      to: string
    }
    data: {
      to: string
      /** Server that system mail goes to */
      host: string | null
      port: number
      /** TLS mode of the connection, as SMTP_TLS */
      tls: "opportunistic" | "starttls" | "true" | "false"
      /** Login at the server */
      user: string | null
      /** The server accepted the mail */
      sent: boolean
      /** Message-ID without its angle brackets; the message trace shows whether it arrived */
      message_id: string | null
      /** Reason that it was not sent */
      error: string | null
    }
  }
  /** Count the messages that match a filter, then change them if the count still holds. Operator(operator+) */
  '/queue/mail-queue/by-filter': {
    body: {
      /** As in by-sender */
      sender?: string
      /** A recipient is at this domain */
      domain?: string
      recipient?: string
      status?: "active" | "deferred" | "hold"
      older_than_minutes?: number
      larger_than_bytes?: number
      /** The reason of the last failed attempt contains this */
      error_contains?: string
      /** release concerns mail on hold, requeue mail that is not under delivery */
      action: "hold" | "release" | "requeue" | "delete"
      /** Without it messages are counted only; send `matched` of that answer to change them */
      expected_count?: number
      /** Stored in the audit log */
      reason: string
    }
    data: {
      action: "hold" | "release" | "requeue" | "delete"
      /** Messages that the filter and the action concern */
      matched: number
      /** Numbers of these messages by their state before the action */
      summary: {
        active: number
        deferred: number
        hold: number
      }
      /** 0 when they were only counted */
      changed: number
      /** Matched, but left for another call */
      remaining: number
      queue_error: string | null
    }
  }
  /** Hold, release, requeue or delete all mail of a sender; counts only by default. Operator(operator+) */
  '/queue/mail-queue/by-sender': {
    body: {
      /** Envelope sender: an e-mail address, an @ with a domain for all senders there, or MAILER-DAEMON for notices that mail failed */
      sender: string
      /** hold and delete concern all mail of the sender, release only mail on hold */
      action: "hold" | "release" | "requeue" | "delete"
      /** Count only; send false to change the messages */
      dry_run?: boolean
      /** Stored in the audit log */
      reason: string
    }
    data: {
      sender: string
      action: "hold" | "release" | "requeue" | "delete"
      dry_run: boolean
      /** Messages of the sender that the action concerns */
      matched: number
      /** Numbers of these messages by their state before the action */
      summary: {
        active: number
        deferred: number
        hold: number
      }
      /** 0 in a dry run */
      changed: number
      /** Matched, but left for another call */
      remaining: number
      queue_error: string | null
    }
  }
  /** Try deferred mail now: all of it, or what the filters name. Operator(operator+) */
  '/queue/mail-queue/flush': {
    body?: {
      /** Only mail to this domain */
      domain?: string
      /** hold also releases; all does not touch what is on hold */
      queue_name?: "deferred" | "hold" | "all"
      older_than_minutes?: number
      recipient?: string
      /** Only this message */
      queue_id?: string
      /** Taken and echoed; a flush never waits for the retry time */
      force?: boolean
    }
    data: {
      /** false: the state of some messages could not be determined */
      success: boolean
      message: string
      flushed: number
      failed: number
      /** Matched, but left for another call */
      remaining: number
      filters: {
        /** Only mail to this domain */
        domain?: string
        /** hold also releases; all does not touch what is on hold */
        queue_name?: "deferred" | "hold" | "all"
        older_than_minutes?: number
        recipient?: string
        /** Only this message */
        queue_id?: string
        /** Taken and echoed; a flush never waits for the retry time */
        force?: boolean
      }
    }
  }
  /** Keep a message from being delivered until it is released. Operator(operator+) */
  '/queue/message/{queue_id}/hold': {
    params: {
      queue_id: string
    }
    body?: {
      /** Stored in the audit log */
      reason?: string
    }
    data: {
      queue_id: string
      status: "active" | "deferred" | "hold"
    }
  }
  /** Let a message on hold be delivered, and try it now. Operator(operator+) */
  '/queue/message/{queue_id}/release': {
    params: {
      queue_id: string
    }
    body?: {
      /** Stored in the audit log */
      reason?: string
    }
    data: {
      queue_id: string
      status: "active" | "deferred" | "hold"
    }
  }
  /** Let a deferred or held message pass through Postfix again, with current settings. Operator(operator+) */
  '/queue/message/{queue_id}/requeue': {
    params: {
      queue_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      /** The message gets a new id when it passes again */
      queue_id: string
      requeued: true
    }
  }
  /** Hold, release, requeue or delete up to 1000 messages by their ids. Operator(operator+) */
  '/queue/messages': {
    body: {
      /** The same for all of them */
      action: "hold" | "release" | "requeue" | "delete"
      ids: Array<string>
      /** Stored in the audit log */
      reason: string
    }
    data: {
      action: "hold" | "release" | "requeue" | "delete"
      changed: number
      /** Not in the queue, or not in a state that the action concerns */
      not_found: Array<string>
    }
  }
  /** Make a collection for documents. Key(write) */
  '/rag/collections/{domain}': {
    params: {
      domain: string
    }
    body: {
      name: string
      description?: string
      embedding_model?: string
    }
    data: RagCollection
  }
  /** Add documents to a collection; they can be found at once. Key(write) */
  '/rag/documents/{collection_id}': {
    params: {
      collection_id: string
    }
    body: {
      documents: Array<{
        content: string
        /** subject, from, to and date are shown in results and can be filtered by */
        metadata?: Record<string, unknown>
        /** A document with the same id in the collection is replaced */
        id?: string
      }>
      /** Must be that of the collection */
      domain?: string
      /** Not needed: the collection has one */
      organization_id?: string
    }
    data: {
      documents_indexed: number
      chunks_created: number
      /** Their email_id in results, in order */
      point_ids: Array<string>
      collection_id: string
      embedding_model: string
    }
  }
  /** Index all domains of an organization again. Key(write) */
  '/rag/organizations/{organization_id}/rag/reindex': {
    params: {
      organization_id: string
    }
    body?: Record<string, unknown>
    data: {
      status: "accepted"
      organization_id: string
      message: string
      job_ids: Array<string>
    }
  }
  /** Replace the configuration of a domain's organization; allow its mail or not. Key(write) */
  '/rag/rag/config/domain/{domain}': {
    params: {
      domain: string
    }
    body: {
      /** Parts of a message that are indexed: subject, from, to, cc, body, attachments */
      enabled_fields: Array<string>
      enabled?: boolean
      /** Characters */
      chunk_size?: number
      chunk_overlap?: number
      /** lexical compares words and their parts; sentence_transformers needs a model of the installation, the others its endpoint */
      embedding_provider?: "lexical" | "sentence_transformers" | "huggingface" | "ollama" | "openai" | "azure_openai"
      /** Must be the one that the installation has for the provider */
      embedding_model?: string
      /** No text leaves the network of the installation */
      privacy_mode?: boolean
      auto_index?: boolean
      /** As cron has it, in UTC */
      index_schedule?: string
      max_documents?: number
      /** The mail of this domain may be indexed */
      index_mail?: boolean
    }
    data: RagDomainConfiguration
  }
  /** Index what is new in a domain, or all of it again. Key(write) */
  '/rag/rag/index/trigger': {
    body: {
      domain: string
      /** All of it again, not only what is new */
      full_reindex?: boolean
    }
    data: {
      status: "accepted"
      domain: string
      message: string
      job_id: string
    }
  }
  /** Search mail and documents by words and by likeness. Key(read) */
  '/rag/search': {
    body: {
      query: string
      /** Only of this domain */
      domain?: string
      /** Required of platform callers; a tenant always searches its own */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
      /** Only of this collection */
      collection_id?: string
      limit?: number
      min_score?: number
      /** Part of the sender, in any case */
      sender?: string
      /** Only mail in this folder */
      folder?: string
      /** ISO date or datetime, inclusive */
      date_from?: string
      /** ISO date or datetime, inclusive */
      date_to?: string
      has_attachment?: boolean
    }
    data: RagSearch
  }
  /** Change the limits of a domain; what is not sent stays as it is. Key(write) */
  '/rate-limiter/quotas/domain/{domain}': {
    params: {
      domain: string
    }
    body?: {
      /** Messages per second; 0 = no limit */
      second_limit?: number
      /** Messages per minute; 0 = no limit */
      minute_limit?: number
      /** Recipients per hour; 0 = no limit */
      hourly_limit?: number
      /** Recipients per day; 0 = no limit */
      daily_limit?: number
      /** Recipients in 30 days; 0 = no limit */
      monthly_limit?: number
      /** Messages in any 10 seconds, once it has been set; 0 = no limit */
      burst_limit?: number
      /** The limit is enforced */
      active?: boolean
      /** The rule with the lowest number is looked at first */
      priority?: number
      /** Percent of a limit at which a warning event is emitted */
      warning_threshold?: number
      /** Percent of a limit at which it is critical */
      critical_threshold?: number
      description?: string
      /** Alias of daily_limit; wins when both are sent */
      max_outbound_per_day?: number
      /** outbound (default) or inbound */
      direction?: string
      created_by?: string
    }
    data: {
      success: true
      message: string
    }
  }
  /** Change the limits of a domain; what is not sent stays as it is. Key(write) */
  '/rate-limiter/rate-limits/domain/{domain}': {
    params: {
      domain: string
    }
    body?: {
      /** Messages per second; 0 = no limit */
      second_limit?: number
      /** Messages per minute; 0 = no limit */
      minute_limit?: number
      /** Recipients per hour; 0 = no limit */
      hourly_limit?: number
      /** Recipients per day; 0 = no limit */
      daily_limit?: number
      /** Recipients in 30 days; 0 = no limit */
      monthly_limit?: number
      /** Messages in any 10 seconds, once it has been set; 0 = no limit */
      burst_limit?: number
      /** The limit is enforced */
      active?: boolean
      /** The rule with the lowest number is looked at first */
      priority?: number
      /** Percent of a limit at which a warning event is emitted */
      warning_threshold?: number
      /** Percent of a limit at which it is critical */
      critical_threshold?: number
      description?: string
      /** Alias of daily_limit; wins when both are sent */
      max_outbound_per_day?: number
      /** outbound (default) or inbound */
      direction?: string
      created_by?: string
    }
    data: {
      success: true
      message: string
    }
  }
  /** Change the limits of a mailbox; what is not sent stays as it is. Key(write) */
  '/rate-limiter/rate-limits/mailbox/{email}': {
    params: {
      email: string
    }
    body?: {
      /** Messages per second; 0 = no limit */
      second_limit?: number
      /** Messages per minute; 0 = no limit */
      minute_limit?: number
      /** Recipients per hour; 0 = no limit */
      hourly_limit?: number
      /** Recipients per day; 0 = no limit */
      daily_limit?: number
      /** Recipients in 30 days; 0 = no limit */
      monthly_limit?: number
      /** Messages in any 10 seconds, once it has been set; 0 = no limit */
      burst_limit?: number
      /** The limit is enforced */
      active?: boolean
      /** The rule with the lowest number is looked at first */
      priority?: number
      /** Percent of a limit at which a warning event is emitted */
      warning_threshold?: number
      /** Percent of a limit at which it is critical */
      critical_threshold?: number
      description?: string
      /** Alias of daily_limit; wins when both are sent */
      max_outbound_per_day?: number
      /** outbound (default) or inbound */
      direction?: string
      created_by?: string
    }
    data: {
      success: true
      message: string
    }
  }
  /** Change the limits of an organization; what is not sent stays as it is. Operator(admin+) */
  '/rate-limiter/rate-limits/organization/{organization_id}': {
    params: {
      organization_id: string
    }
    body?: {
      /** Messages per second; 0 = no limit */
      second_limit?: number
      /** Messages per minute; 0 = no limit */
      minute_limit?: number
      /** Recipients per hour; 0 = no limit */
      hourly_limit?: number
      /** Recipients per day; 0 = no limit */
      daily_limit?: number
      /** Recipients in 30 days; 0 = no limit */
      monthly_limit?: number
      /** Messages in any 10 seconds, once it has been set; 0 = no limit */
      burst_limit?: number
      /** The limit is enforced */
      active?: boolean
      /** The rule with the lowest number is looked at first */
      priority?: number
      /** Percent of a limit at which a warning event is emitted */
      warning_threshold?: number
      /** Percent of a limit at which it is critical */
      critical_threshold?: number
      description?: string
      /** Alias of daily_limit; wins when both are sent */
      max_outbound_per_day?: number
      /** outbound (default) or inbound */
      direction?: string
      created_by?: string
    }
    data: {
      success: true
      message: string
    }
  }
  /** Start counting from zero; the rule stays. Key(write) */
  '/rate-limiter/rate-limits/reset': {
    body: {
      type: "organization" | "domain" | "mailbox"
      /** Organization id, domain name or address */
      identifier: string
      direction?: "outbound" | "inbound"
    }
    data: {
      success: true
      message: string
      entity_type: string
      identifier: string
      direction: string
    }
  }
  /** Warm up an IP address: mail above the limit of the day waits in the queue. Operator(operator+) */
  '/reputation/warm-ups': {
    body: {
      /** The IP address that mail leaves from */
      ip_address: string
      /** The organization that sends from this IP address; absent or null: all organizations without a warm-up of their own */
      organization_id?: string | null
      /** Messages a day at the end of the warm-up */
      target_daily_volume: number
      warmup_days: number
      /** Stored in the audit log */
      reason: string
    }
    data: WarmUpSchedule
  }
  /** Open an organization for a customer of a reseller. Operator(admin+) */
  '/reseller/sub-organizations': {
    body: {
      parent_org_id: string
      name: string
      admin_email?: string | null
      admin_name?: string | null
      /** Mailboxes it may have */
      max_users?: number
      /** Domains it may have */
      max_domains?: number
      /** Bytes it may give to its domains */
      storage_limit?: number
      plan_name?: string
    }
    data: SubOrganization
  }
  /** Create a DLP policy, which applies from the next message. Operator(admin+) */
  '/security/dlp/policies': {
    body: {
      organization_id: string
      name: string
      description?: string | null
      policy_type?: "pii" | "keyword" | "regex" | "file_type"
      /** keyword: words and phrases. regex: RE2 expressions. pii: credit_card, iban, us_ssn, uk_nino, ca_sin, nl_bsn, es_dni, fr_nir, it_codice_fiscale, pl_pesel, br_cpf, de_tax_id. file_type: extensions and MIME types */
      patterns: Array<string>
      action?: "block" | "quarantine" | "encrypt" | "notify" | "log_only"
      severity?: "low" | "medium" | "high" | "critical"
      enabled?: boolean
      apply_to?: "inbound" | "outbound" | "both"
      /** Stored in the audit log */
      reason: string
    }
    data: DlpPolicy
  }
  /** Block every login from an IP address for some minutes. Operator(operator+) */
  '/security/failed-auth/{client_ip}/block': {
    params: {
      /** IPv4 or IPv6, in any spelling; IPv6 means its /64 */
      client_ip: string
    }
    body: {
      minutes: number
      /** Stored in the audit log */
      reason: string
    }
    data: {
      /** IPv4 address or IPv6 /64 */
      client_ip: string
      blocked_until: string
      rows_affected: number
      /** Set when the block covers the IP address of this request */
      warning?: string
    }
  }
  /** Create the geo policy of an organization. Operator(operator+) */
  '/security/geo-policies': {
    body: {
      organization_id: string
      /** ISO 3166-1 alpha-2, in any case */
      allowed_countries?: Array<string> | null
      /** ISO 3166-1 alpha-2, in any case */
      blocked_countries?: Array<string> | null
      /** Hours of the day at which logins are allowed; `{}` removes the restriction */
      time_restrictions?: {
        allowed_hours?: {
          start: number
          end: number
        }
        /** Default 0 */
        timezone_offset?: number
        /** ISO 3166-1 alpha-2, in any case */
        applies_to_countries?: Array<string>
      } | null
      action?: "block" | "challenge" | "log_only" | null
      enabled?: boolean | null
      /** Stored in the audit log */
      reason: string
    }
    data: {
      id: string
      organization_id: string
      organization_name: string
      allowed_countries: Array<string>
      blocked_countries: Array<string>
      time_restrictions: {
        allowed_hours: {
          start: number
          end: number
        }
        /** Hours from UTC */
        timezone_offset: number
        /** Empty: every country */
        applies_to_countries: Array<string>
      } | null
      action: "block" | "challenge" | "log_only"
      enabled: boolean
      created_at: string
      updated_at: string
      /** A GeoIP database is loaded; without it no geo policy is enforced */
      countries_known: boolean
      /** Advice for configuring a GeoIP database, when none is loaded */
      schema_note?: string
    }
  }
  /** Create an IP access rule, which applies from the next connection. Operator(operator+) */
  '/security/ip-rules': {
    body: {
      rule_type: "whitelist" | "blacklist"
      /** An IP address, or a network in CIDR notation; host bits are cleared */
      ip_address: string
      /** smtp: sending mail; mailbox: IMAP, POP3, ManageSieve and the web sessions of mailboxes; api: API keys and dashboard sessions */
      applies_to?: Array<"smtp" | "mailbox" | "api">
      description?: string | null
      /** Required: rules apply to one organization */
      organization_id: string
      /** Stored in the audit log */
      reason: string
    }
    data: IpRule
  }
  /** Lift every throttle and block of an account or an IP address. Operator(operator+) */
  '/security/throttles/lift': {
    body: {
      /** Login or e-mail address; either this or client_ip */
      username?: string
      /** IPv4 or IPv6; IPv6 means its /64 */
      client_ip?: string
      /** Stored in the audit log */
      reason: string
    }
    data: {
      client_ip: string | null
      username: string | null
      /** Throttles and blocks that were in force */
      lifted: number
    }
  }
  /** Create a shared mailbox at a verified domain. Key(write) */
  '/shared-mailboxes': {
    body: {
      /** At a verified domain of the organization */
      email: string
      name: string
      /** Deprecated and ignored: the domain decides */
      organization_id?: unknown
      /** Answers each sender once a day; lists and automatic mail get no reply */
      auto_reply_enabled?: boolean
      auto_reply_message?: string | null
    }
    data: SharedMailbox
  }
  /** Give a mailbox access, or change what it may do. Key(write) */
  '/shared-mailboxes/{mailbox_id}/members': {
    params: {
      mailbox_id: string
    }
    body: {
      /** Id or address of an active mailbox of the same organization */
      email_account_id: string
      permission?: "full_access" | "send_as" | "send_on_behalf" | "read_only"
    }
    data: {
      member_id: string
      email_account_id: string
      email: string
      permission: "full_access" | "send_as" | "send_on_behalf" | "read_only"
    }
  }
  /** Create an SMTP credential; a generated secret is shown this once. Key(write) */
  '/smtp-credentials/': {
    body: {
      domain_id: string
      /** Generated when omitted; an @ only before the credential's own domain; stored in lower case */
      username?: string | null
      /** Generated and shown once as `secret` when omitted; at most 72 bytes */
      password?: string | null
      /** Instead of the caller */
      created_by?: string | null
      name?: string | null
      allowed_ips?: Array<unknown>
      /** ISO 8601, in UTC unless it says otherwise; empty = never */
      expires_at?: string | null
      hourly_limit?: number | null
      /** Opens and clicks of its mail are tracked */
      tracking_enabled?: boolean
      daily_limit?: number | null
      ip_allowlist_enabled?: boolean
    }
    data: CreatedSmtpCredential
  }
  /** Let a revoked SMTP credential work again; may be repeated. Key(write) */
  '/smtp-credentials/{credential_id}/enable': {
    params: {
      credential_id: string
    }
    data: SwitchedSmtpCredential
  }
  /** Revoke an SMTP credential; may be repeated. Key(write) */
  '/smtp-credentials/{credential_id}/revoke': {
    params: {
      credential_id: string
    }
    data: SwitchedSmtpCredential
  }
  /** Replace the secret; the new one is shown this once. Key(write) */
  '/smtp-credentials/{credential_id}/rotate': {
    params: {
      credential_id: string
    }
    data: RotatedSmtpCredential
  }
  /** Obtain a certificate for a domain, or renew it before its time. Operator(operator+) */
  '/ssl/certificates/{domain}/renew': {
    params: {
      domain: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: Certificate
  }
  /** Delete old usage records and, on request, old mail from Trash or Junk. Operator(operator+) */
  '/storage/cleanup': {
    body?: {
      domain?: string | null
      /** 1 to 36500; 30 unless given */
      older_than_days?: number
      /** Older name of older_than_days */
      days_to_keep?: number
      /** trash (default), spam, expired or all */
      target?: string
      /** Count only */
      dry_run?: boolean
      /** Also remove old mail from Trash (trash), Junk (spam) or both (all); needs domain */
      delete_mail?: boolean
    }
    data: {
      /** false: there was no time for all of it; call again */
      success: boolean
      dry_run: boolean
      older_than_days: number
      days_to_keep: number
      target: string
      domain: string | null
      matched_records: number
      cache_entries: number
      cleaned_records: number
      matched_messages: number
      cleaned_messages: number
      note: string
      timestamp: string
    }
  }
  /** Set quotas of a domain as an override; what is not sent stays as it is. Operator(admin+) */
  '/storage/quotas/domain/{domain}': {
    params: {
      domain: string
    }
    query?: {
      /** Operators only: write without an override, and end an existing one */
      force?: boolean
    }
    body?: {
      /** Storage quota of all mailboxes of the domain together */
      domain_quota_mb?: number
      /** For new mailboxes that ask for none */
      default_mailbox_quota_mb?: number
      warning_threshold_percent?: number
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      quota_configuration: {
        /** Bytes; null: no limit */
        total_storage_limit: number | null
        attachment_storage_limit: number
        max_file_size: number
        max_attachment_size: number
        max_email_size: number
        enforce_limits: boolean
        /** Percent */
        warning_threshold: number
        /** Percent */
        critical_threshold: number
        allowed_file_types: Array<string> | null
        blocked_file_types: Array<string> | null
      }
      /** Of a domain: for mailboxes that ask for none */
      default_mailbox_quota_mb?: number | null
      quota_override: boolean
      /** false: Dovecot may use the old quota for an hour */
      cache_flushed: boolean
    }
  }
  /** Set quotas of a mailbox as an override; what is not sent stays as it is. Operator(admin+) */
  '/storage/quotas/mailbox/{email}': {
    params: {
      email: string
    }
    query?: {
      /** Operators only: write without an override, and end an existing one */
      force?: boolean
    }
    body?: {
      /** Storage quota of the mailbox */
      quota_mb?: number
      warning_threshold_percent?: number
    }
    data: {
      success: true
      entity_type: "domain" | "mailbox"
      identifier: string
      timestamp: string
      quota_configuration: {
        /** Bytes; null: no limit */
        total_storage_limit: number | null
        attachment_storage_limit: number
        max_file_size: number
        max_attachment_size: number
        max_email_size: number
        enforce_limits: boolean
        /** Percent */
        warning_threshold: number
        /** Percent */
        critical_threshold: number
        allowed_file_types: Array<string> | null
        blocked_file_types: Array<string> | null
      }
      /** Of a domain: for mailboxes that ask for none */
      default_mailbox_quota_mb?: number | null
      quota_override: boolean
      /** false: Dovecot may use the old quota for an hour */
      cache_flushed: boolean
    }
  }
  /** Create a template. Key(write) */
  '/templates/': {
    body: {
      name: string
      description?: string | null
      category?: "transactional" | "marketing" | "notification" | "general"
      /** Names of variables, for people who use the template */
      variables?: Array<string>
      /** Kept with the template, never returned */
      metadata?: Record<string, unknown>
      /** Liquid; line breaks become spaces */
      subject_template: string
      /** Liquid in HTML, or in MJML when it begins with `<mjml` */
      html_content: string
      /** Liquid; made from the HTML when it is absent */
      plaintext_content?: string | null
      /** Required for platform callers; a tenant always has its own */
      organization_id?: string
    }
    data: SavedTemplate
  }
  /** Copy a template under another name. Key(write) */
  '/templates/{template_id}/duplicate': {
    params: {
      template_id: string
    }
    body: {
      new_name: string
    }
    data: SavedTemplate
  }
  /** Render a template with variables. Key(read) */
  '/templates/{template_id}/render': {
    params: {
      template_id: string
    }
    body: {
      /** At most 256 KB as JSON */
      variables: Record<string, unknown>
      format?: "html" | "plaintext" | "both"
      /** A missing variable is 400 `Missing variable: …`; otherwise it is empty */
      strict?: boolean
    }
    data: RenderedTemplate
  }
  /** Render a template with up to 1,000 sets of variables, in their order. Key(read) */
  '/templates/{template_id}/render-many': {
    params: {
      template_id: string
    }
    body: {
      sets: Array<Record<string, unknown>>
      format?: "html" | "plaintext" | "both"
      /** A missing variable is 400 `Missing variable: …`; otherwise it is empty */
      strict?: boolean
    }
    data: {
      results: Array<RenderedTemplate>
    }
  }
  /** Send a template to up to 1,000 recipients, to each with variables of its own. Key(write) */
  '/templates/{template_id}/send': {
    params: {
      template_id: string
    }
    body: {
      /** An address at an active domain of the organization, with or without a name */
      from: string
      /** Addresses that answers go to */
      reply_to?: Array<string>
      /** `X-…`, `List-…`, `In-Reply-To`, `References`, `Auto-Submitted`, `Precedence` and `Importance` */
      headers?: Record<string, string>
      /** At most 10 MB together, before base64 */
      attachments?: Array<{
        filename: string
        /** Base64 */
        content: string
        content_type?: string
        /** For images in the HTML: `<img src="cid:…">` */
        content_id?: string
      }>
      /** Each gets a message of its own */
      recipients: Array<{
        to: string
        variables?: Record<string, unknown>
      }>
      /** For all recipients; those of a recipient take precedence */
      variables?: Record<string, unknown>
      /** A missing variable refuses the whole request */
      strict?: boolean
    }
    data: AcceptedMessages
  }
  /** Send a template to one address, to look at it in a mail program. Key(write) */
  '/templates/{template_id}/test': {
    params: {
      template_id: string
    }
    body: {
      /** An address at an active domain of the organization, with or without a name */
      from: string
      to: string
      variables?: Record<string, unknown>
    }
    data: AcceptedMessages
  }
  /** Make the texts of an old version the newest version. Key(write) */
  '/templates/{template_id}/versions/{version}/restore': {
    params: {
      template_id: string
      version: number
    }
    data: Template
  }
  /** Render texts that are not stored. Key(read) */
  '/templates/preview': {
    body: {
      /** Liquid; line breaks become spaces */
      subject_template: string
      /** Liquid in HTML, or in MJML when it begins with `<mjml` */
      html_content: string
      /** Liquid; made from the HTML when it is absent */
      plaintext_content?: string | null
      /** At most 256 KB as JSON */
      variables?: Record<string, unknown>
      /** A missing variable is 400 `Missing variable: …`; otherwise it is empty */
      strict?: boolean
    }
    data: {
      subject: string
      html?: string
      plaintext?: string
      /** Links that a variable decides without the filter `url` */
      warnings: Array<string>
    }
  }
  /** Send nothing more to an address. Key(write) */
  '/tracking/suppress': {
    body: {
      email: string
      /** manual unless given */
      reason?: string | null
      /** Of platform callers; a tenant is always its own */
      organization_id?: string | null
    }
    data: {
      status: "success"
      email: string
    }
  }
  /** Suppress up to 1000 addresses of an organization. Operator(operator+) */
  '/tracking/suppressions/bulk': {
    body: {
      /** At most 1000 */
      emails: Array<string>
      /** BOUNCE, COMPLAINT, UNSUBSCRIBE or MANUAL */
      suppression_type?: string
      reason: string
      /** Organization of the list */
      organization_id?: string | null
    }
    data: {
      suppressed: Array<{
        email: string
        suppression_type: string
      }>
      failed: Array<{
        email: string
        error: string
      }>
      /** Without duplicates */
      requested: number
      organization_id: string
    }
  }
  /** No more mail from this sender: one click of RFC 8058, or the button of the page. None */
  '/tracking/unsubscribe/{tracking_id}': {
    params: {
      /** The identity: only the recipient has it */
      tracking_id: string
    }
    body?: {
      /** one-click-post unless given */
      reason?: string
      /** Accepted for compatibility; not stored */
      feedback?: string
    }
    data: {
      status: "unsubscribed"
      email: string
    }
  }
  /** Create a transport rule, which applies from the next message. Key(write) */
  '/transport-rules/': {
    body: {
      /** Required for platform callers; ignored for tenants */
      organization_id?: string
      name: string
      description?: string | null
      direction?: "inbound" | "outbound" | "both"
      conditions: Array<{
        field: "sender" | "recipient" | "subject" | "header" | "size" | "has_attachment"
        operator: "equals" | "contains" | "starts_with" | "ends_with" | "regex" | "greater_than" | "less_than"
        /** Always a string. For `header`: `Name: text`. For `size`: bytes. For `has_attachment`: true or false */
        value: string
      }>
      condition_logic?: "all" | "any"
      actions: Array<{
        type: "quarantine" | "add_header" | "modify_subject" | "redirect" | "bcc" | "reject" | "add_disclaimer"
        /** Parameters of the action; others are ignored */
        params?: {
          /** add_header: name of the field */
          name?: string
          /** add_header: its text */
          value?: string
          /** modify_subject: added in front, once */
          prefix?: string
          /** modify_subject: added at the end, once */
          suffix?: string
          /** modify_subject: replaces the subject */
          replace?: string
          /** redirect, bcc: target e-mail address */
          address?: string
          /** reject: reply to the sender; ASCII */
          message?: string
          /** add_disclaimer: for plain text */
          text?: string
          /** add_disclaimer: for HTML; without it the text is used */
          html?: string
          /** add_disclaimer: start or end, which is the default */
          position?: string
          /** quarantine: reason, shown to operators */
          reason?: string
        }
      }>
      priority?: number
      enabled?: boolean
    }
    data: TransportRule
  }
  /** Test which rules match a message and show the result without sending it. Key(read) */
  '/transport-rules/test': {
    body: {
      /** Required for platform callers; ignored for tenants */
      organization_id?: string
      direction?: "inbound" | "outbound"
      sender: string
      recipients: Array<string>
      /** Used when `message` is omitted */
      subject?: string
      /** The whole message, as RFC 5322 text */
      message?: string
    }
    data: {
      /** quarantine: for at least one recipient */
      outcome: "pass" | "reject" | "quarantine"
      reject_message: string | null
      rules: Array<{
        id: string
        name: string
        matched: boolean
        /** Recipients that the rule matched */
        recipients: Array<string>
      }>
      messages: Array<{
        recipients: Array<string>
        quarantined: boolean
        /** Actions that would not be carried out */
        notes: Array<string>
        /** The message after the rules were applied */
        message: string
        /** `message` is only the beginning: all messages together have at most 400 kB */
        truncated: boolean
      }>
    }
  }
  /** Block or allow an address, from the next click on. Key(write) */
  '/url-protection/blocklist': {
    body: {
      /** url: an address and everything below it; domain: a host and everything below it; pattern: a regular expression (RE2) on the whole address; allowlist: a host or address that always passes */
      entry_type: "url" | "domain" | "pattern" | "allowlist"
      entry: string
      reason?: string | null
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: UrlEntry
  }
  /** Block or allow an address for all organizations. Operator(operator+) */
  '/url-protection/global/blocklist': {
    body: {
      /** url: an address and everything below it; domain: a host and everything below it; pattern: a regular expression (RE2) on the whole address; allowlist: a host or address that always passes */
      entry_type: "url" | "domain" | "pattern" | "allowlist"
      entry: string
      /** Shown in the list and stored in the audit log */
      reason: string
    }
    data: UrlEntry
  }
  /** Sign new links with a new key; links of the old one work for another year. Operator(admin+) */
  '/url-protection/keys/rotate': {
    body: {
      /** Shown in the list and stored in the audit log */
      reason: string
    }
    data: UrlLinkKey
  }
  /** Check an address as a click on it would; nothing is fetched. Key(read) */
  '/url-protection/scan': {
    body: {
      url: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: UrlVerdict
  }
  /** Invite a person by mail, with a link that expires. Key(admin) */
  '/users/': {
    body: {
      email: string
      full_name?: string
      role?: "owner" | "admin" | "read_only"
      /** For platform callers */
      organization_id?: string
    }
    data: {
      id: string
      organization_id: string
      organization_name: string
      email: string
      full_name: string | null
      role: "owner" | "admin" | "read_only"
      /** invited: has not set a password yet */
      status: "invited" | "active" | "disabled"
      /** false: disabled */
      is_active: boolean
      two_factor_enabled: boolean
      last_login_at: string | null
      active_session_count: number
      open_link: AccountLink
      created_at: string
      updated_at: string
      /** For platform callers only, to be handed over when mail fails */
      link?: string
    }
  }
  /** Send the invitation again; the earlier link stops working. Key(admin) */
  '/users/{user_id}/invite': {
    params: {
      user_id: string
    }
    data: {
      user_id: string
      expires_at: string
      /** For platform callers only, to be handed over when mail fails */
      link?: string
    }
  }
  /** Mail a link to set a new password; the old one works until the link is used. Key(admin) */
  '/users/{user_id}/password-reset': {
    params: {
      user_id: string
    }
    data: {
      user_id: string
      expires_at: string
      /** For platform callers only, to be handed over when mail fails */
      link?: string
    }
  }
  /** End every session of a user. Key(admin) */
  '/users/{user_id}/sessions/revoke': {
    params: {
      user_id: string
    }
    data: {
      user_id: string
      /** Sessions that this call ended */
      revoked: number
    }
  }
  /** Clear the second factor of a user and end the sessions. Key(admin) */
  '/users/{user_id}/two-factor-reset': {
    params: {
      user_id: string
    }
    data: {
      user_id: string
      /** A second factor was enrolled */
      two_factor_cleared: boolean
      sessions_revoked: number
    }
  }
  /** Deliver the original envelope again. Operator(operator+) */
  '/webhooks/dead-letters/{dead_letter_id}/replay': {
    params: {
      dead_letter_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: ReplayedLetter
  }
  /** Deliver the original envelope of a dead letter of an own endpoint again. Key(write) */
  '/webhooks/dead-letters/{dead_letter_id}/replay-mine': {
    params: {
      dead_letter_id: string
    }
    data: ReplayedLetter
  }
  /** Mark a dead letter as resolved without delivering it. Operator(operator+) */
  '/webhooks/dead-letters/{dead_letter_id}/resolve': {
    params: {
      dead_letter_id: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: ResolvedLetter
  }
  /** Deliver several original envelopes again; those that cannot be are named. Operator(operator+) */
  '/webhooks/dead-letters/replay': {
    body: {
      /** At most 100; repeated ones count once */
      dead_letter_ids: Array<string | number>
      /** Kept in the audit trail */
      reason: string
    }
    data: ReplayedLetters
  }
  /** Deliver several original envelopes again; those that cannot be are named. Operator(operator+) */
  '/webhooks/dead-letters/replay-bulk': {
    body: {
      /** At most 100; repeated ones count once */
      dead_letter_ids: Array<string | number>
      /** Kept in the audit trail */
      reason: string
    }
    data: ReplayedLetters
  }
  /** Register a webhook endpoint; its secret is shown this once. Key(write) */
  '/webhooks/endpoints': {
    body: {
      url: string
      name?: string
      description?: string | null
      active?: boolean
      /** null: all of them. `email.*` means all that begin with `email.` */
      event_types?: Array<string> | null
      /** Generated when omitted */
      secret?: string | null
      /** Platform callers only; without it the endpoint belongs to the platform */
      organization_id?: string | null
    }
    data: CreatedWebhookEndpoint
  }
  /** Replace the secret; the old one signs beside it for a while. Key(write) */
  '/webhooks/endpoints/{endpoint_id}/rotate-secret': {
    params: {
      endpoint_id: string
    }
    body: {
      /** Generated when omitted */
      secret?: string
      /** Seconds that the old secret signs beside the new one */
      overlap_seconds: number
    }
    data: RotatedWebhookSecret
  }
  /** Send a test event to the global URL, and with fan-out to the endpoint. Key(write) */
  '/webhooks/endpoints/{endpoint_id}/test': {
    params: {
      endpoint_id: string
    }
    data: {
      endpoint_id: string
    }
  }
  /** Look up whether the custom domain leads here. Operator(admin+) */
  '/whitelabel/config/{org_id}/verify-domain': {
    params: {
      org_id: string
    }
    data: {
      organization_id: string
      custom_domain: string
      verified: boolean
      resolved_cname: string | null
      message: string
    }
  }
}

export interface Put {
  /** Change a report that is sent at intervals; absent fields stay as they are. Key(write) */
  '/analytics/reports/scheduled/{schedule_id}': {
    params: {
      schedule_id: string
    }
    body?: {
      report_type?: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
      /** weekly unless given; a report covers the time between two */
      interval?: "daily" | "weekly" | "monthly"
      recipients?: Array<string>
      /** Time zone of the days; default UTC */
      timezone?: string
      /** URL that reports are posted to, signed */
      webhook_url?: string | null
    }
    data: {
      schedule_id: string
      organization_id: string
      domain: string
      report_type: "dashboard" | "email-volume" | "engagement" | "deliverability" | "metrics"
      interval: "daily" | "weekly" | "monthly"
      recipients: Array<string>
      timezone: string
      webhook_url: string | null
      created_at: string
      last_run_at: string | null
      /** Absent until the first run */
      last_error?: string | null
      /** Signs what is posted to webhook_url; shown once, when the URL is set */
      webhook_secret?: string
    }
  }
  /** Switch the archive on or off, or change the key of the organization. Key(admin) */
  '/archive/settings': {
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    body: {
      enabled?: boolean
      /** An age recipient; null: a new key that this host keeps */
      recipient?: string | null
      /** Stored in the audit log */
      reason: string
    }
    data: ArchiveSettings
  }
  /** Set the retention policy of an organization; a stricter one applies in 7 days. Operator(admin+) */
  '/compliance/retention-policies/{organization_id}': {
    params: {
      organization_id: string
    }
    body: {
      /** Mail and the rows about it are deleted when they are older */
      retention_days: number
      /** Move old mail from INBOX to Archive; false for a new policy without it */
      auto_archive?: boolean
      /** Age in days at which mail is archived; 90 for a new policy without it */
      archive_after_days?: number
      /** Stored in the audit log */
      reason: string
    }
    data: RetentionPolicy
  }
  /** Change a domain; its name and organization stay. Key(write) */
  '/domains/{domain_id}': {
    params: {
      domain_id: string
    }
    body?: {
      external_id?: string | null
      description?: string | null
      active?: boolean
      /** Bytes */
      max_quota?: number
      max_users?: number
      dkim_enabled?: boolean
      /** The current one only; a selector changes when a new key is activated */
      dkim_selector?: string
      tracking_enabled?: boolean
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
    }
    data: Domain
  }
  /** Set the mode of the MTA-STS policy. Key(write) */
  '/domains/{domain_id}/mta-sts': {
    params: {
      domain_id: string
    }
    body: {
      /** testing: other hosts report problems and deliver; enforce: they deliver with verified TLS only */
      mode: "none" | "testing" | "enforce"
    }
    data: MtaSts
  }
  /** Set the quotas of a domain; those of an operator become an override. Key(write) */
  '/domains/{domain_id}/quotas': {
    params: {
      domain_id: string
    }
    query?: {
      /** Operators only: write without an override, and end an existing one */
      force?: boolean
    }
    body?: {
      /** Bytes */
      max_quota?: number
      max_users?: number
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
    }
    data: {
      domain_id: string
      max_quota: number
      max_users: number
      /** As stored */
      rate_limits: Record<string, unknown>
      /** As stored */
      storage_quotas: Record<string, unknown>
      quota_override: boolean
    }
  }
  /** Activate a script of a mailbox, in addition to the holder's own settings. Key(write) */
  '/filters/{name}/activate': {
    params: {
      name: string
    }
    query: {
      /** E-mail address of the mailbox */
      email: string
    }
    body?: {
      /** Deactivate a script that the mailbox holder's own mail client has activated */
      replace?: boolean
    }
    data: {
      name: string
      active: boolean
    }
  }
  /** Encrypt mail that arrives to the own preferred key or certificate, or stop to. Mailbox session */
  '/mailbox/encryption/delivery': {
    body: {
      enabled: boolean
      /** Unset: as before, or pgp */
      method?: "pgp" | "smime"
    }
    data: EncryptedDelivery
  }
  /** Forward mail of this mailbox, or stop to. Mailbox session */
  '/mailbox/forwarding': {
    body?: {
      enabled?: boolean
      /** At most 5; the own address and what is no address are dropped */
      addresses?: Array<string>
      keep_copy?: boolean
    }
    data: MailboxForwarding
  }
  /** Replace all rules of this mailbox. Mailbox session */
  '/mailbox/rules': {
    body?: {
      /** At most 50; they run in this order */
      rules?: Array<NewMailboxRule>
    }
    data: MailboxRules
  }
  /** Set the vacation responder, or turn it off. Mailbox session */
  '/mailbox/vacation': {
    body?: {
      enabled?: boolean
      subject?: string | null
      message?: string | null
      /** For display; an enabled responder answers on every day */
      start_date?: string | null
      /** For display; an enabled responder answers on every day */
      end_date?: string | null
    }
    data: MailboxVacation
  }
  /** Change a mailbox; a new password or status ends its holder's sessions. Key(write) */
  '/mailboxes/email-accounts/{account_id}': {
    params: {
      account_id: string
    }
    body?: {
      /** 12 characters or more, with letters and numbers, not a common one */
      password?: string
      name?: string | null
      status?: "active" | "inactive" | "suspended"
      /** Bytes; 0 = no limit of its own, the domain's applies. Left out, a new mailbox gets 1 GiB, or 0 when the domain has less left to allot */
      storage_quota?: number
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
      forward_enabled?: boolean
      /** Addresses, with commas between them */
      forward_destination?: string | null
      vacation_enabled?: boolean
      vacation_message?: string | null
      external_id?: string | null
    }
    data: EmailAccount
  }
  /** Set the quotas of a mailbox; those of an operator become an override. Key(write) */
  '/mailboxes/email-accounts/{account_id}/quotas': {
    params: {
      account_id: string
    }
    query?: {
      /** Operators only: write without an override, and end an existing one */
      force?: boolean
    }
    body?: {
      /** Bytes; 0 = no limit of its own, the domain's applies. Left out, a new mailbox gets 1 GiB, or 0 when the domain has less left to allot */
      storage_quota?: number
      /** Limits of the rate limiter; replaces the whole object */
      rate_limits?: Record<string, unknown>
      /** Free-form */
      storage_quotas?: Record<string, unknown>
    }
    data: {
      account_id: string
      /** Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota */
      storage_quota: number
      /** As stored */
      rate_limits: Record<string, unknown>
      /** As stored */
      storage_quotas: Record<string, unknown>
      quota_override: boolean
    }
  }
  /** Change an organization; tenants cannot change their limits or their suspension. Key(write) */
  '/organizations/{organization_id}': {
    params: {
      organization_id: string
    }
    body?: {
      name?: string
      external_id?: string | null
      description?: string | null
      /** Platform callers only */
      active?: boolean
      admin_email?: string | null
      admin_name?: string | null
      /** Free-form */
      settings?: Record<string, unknown>
      /** Operators only */
      rate_limits?: Record<string, unknown>
      /** Operators only */
      storage_quotas?: Record<string, unknown>
      webhook_urls?: Array<string>
      /** Write-only */
      webhook_secret?: string | null
      /** transactional, marketing or both; platform callers only */
      sending_profile?: string
    }
    data: Organization
  }
  /** Set quotas as an operator; they become an override without force. Operator(admin+) */
  '/organizations/{organization_id}/quotas': {
    params: {
      organization_id: string
    }
    query?: {
      /** Operators only: write without an override, and end an existing one */
      force?: boolean
    }
    body?: {
      /** Replaces the whole object */
      storage_quotas?: Record<string, unknown>
      /** Replaces the whole object */
      rate_limits?: Record<string, unknown>
    }
    data: {
      organization_id: string
      /** As stored */
      storage_quotas: Record<string, unknown>
      /** As stored */
      rate_limits: Record<string, unknown>
      quota_override: boolean
      quota_override_at: string | null
      quota_override_by: string | null
    }
  }
  /** Change the sent fields of an alert rule; null clears an optional field. Operator(operator+) */
  '/platform/alerts/rules/{rule_id}': {
    params: {
      rule_id: string
    }
    body?: {
      name?: string
      description?: string | null
      metric?: "archive_damaged" | "archive_deletions_overdue" | "archive_waiting_hours" | "backup_age_hours" | "bounce_rate_percent" | "certificates_expiring_days" | "denied_operator_actions_24h" | "disk_used_percent" | "dns_block_listings" | "drill_age_hours" | "failed_auth_24h" | "quarantine_pending" | "queue_deferred" | "queue_depth" | "queue_oldest_age_seconds" | "queue_oldest_deferred_seconds" | "queue_size_bytes" | "services_down" | "storage_used_percent" | "webhook_dead_letters"
      comparator?: ">" | ">=" | "<" | "<=" | "=="
      threshold?: number
      for_seconds?: number
      severity?: "critical" | "warning" | "info"
      enabled?: boolean
      channel_ids?: Array<string>
      organization_id?: string | null
    }
    data: AlertRule
  }
  /** Change the addresses or the state of a mail host. Operator(admin+) */
  '/platform/mail-hosts/{host_id}': {
    params: {
      host_id: string
    }
    body?: {
      /** Name or IP address in the private network; outside of loopback its certificate has it */
      address?: string
      /** IMAP with TLS */
      imap_port?: number
      /** POP3 with TLS */
      pop3_port?: number
      /** ManageSieve */
      sieve_port?: number
      /** Deliveries of Postfix */
      lmtp_port?: number
      /** Copies from other backends */
      sync_port?: number
      /** Dovecot's HTTP administration interface */
      doveadm_url?: string
      /** away: nothing connects to the host, and mail for its mailboxes waits */
      state?: "active" | "away"
    }
    data: MailHost
  }
  /** Change name, role or active status of an operator. Operator(owner+) */
  '/platform/operators/{operator_id}': {
    params: {
      operator_id: string
    }
    body?: {
      full_name?: string
      role?: "support" | "operator" | "admin" | "owner"
      is_active?: boolean
    }
    data: Operator
  }
  /** Replace how an organization is indexed and searched. Key(write) */
  '/rag/organizations/{organization_id}/rag/config': {
    params: {
      organization_id: string
    }
    body: {
      /** Parts of a message that are indexed: subject, from, to, cc, body, attachments */
      enabled_fields: Array<string>
      enabled?: boolean
      /** Characters */
      chunk_size?: number
      chunk_overlap?: number
      /** lexical compares words and their parts; sentence_transformers needs a model of the installation, the others its endpoint */
      embedding_provider?: "lexical" | "sentence_transformers" | "huggingface" | "ollama" | "openai" | "azure_openai"
      /** Must be the one that the installation has for the provider */
      embedding_model?: string
      /** No text leaves the network of the installation */
      privacy_mode?: boolean
      auto_index?: boolean
      /** As cron has it, in UTC */
      index_schedule?: string
      max_documents?: number
      /** Domains whose mail may be indexed; absent: as before */
      mail_domains?: Array<string>
    }
    data: RagConfiguration
  }
  /** Mark a feedback report as processed, or open it again. Operator(operator+) */
  '/reputation/feedback-loops/{feedback_id}': {
    params: {
      feedback_id: string
    }
    body: {
      /** Nothing is left to do; false: open again */
      processed: boolean
      /** Stored in the audit log */
      reason: string
    }
    data: FeedbackLoop
  }
  /** Set the limits of a destination; fields that are left out stay. Operator(operator+) */
  '/reputation/isp-limits/{domain}': {
    params: {
      /** Domain of the recipients, or `default` for all others */
      domain: string
    }
    body: {
      /** Messages an hour, for each organization */
      hourly_limit?: number
      /** Messages a day, for each organization */
      daily_limit?: number
      /** Messages a minute that are accepted without a delay */
      burst_limit?: number
      /** Delay of each message after the burst */
      delay_ms?: number
      /** Stored in the audit log */
      reason: string
    }
    data: {
      domain: string
      /** Messages an hour, for each organization */
      hourly_limit: number
      /** Messages a day, for each organization */
      daily_limit: number
      /** Messages a minute that are accepted without a delay */
      burst_limit: number
      /** Delay of each message after the burst */
      delay_ms: number
      /** false: set by an operator */
      is_built_in: boolean
      /** Messages on hold until the limit allows them */
      waiting: number
      /** false: this installation does not pace mail */
      enforced: boolean
      /** Variables to set when limits are not enforced */
      note: string | null
    }
  }
  /** Change, pause or resume a warm-up. Operator(operator+) */
  '/reputation/warm-ups/{ip_address}': {
    params: {
      ip_address: string
    }
    body: {
      /** Messages a day at the end of the warm-up */
      target_daily_volume?: number
      warmup_days?: number
      /** The limit of today stays until it is resumed */
      paused?: boolean
      /** Stored in the audit log */
      reason: string
    }
    data: WarmUpSchedule
  }
  /** Change what a customer of a reseller may have. Operator(admin+) */
  '/reseller/sub-organizations/{org_id}/plan': {
    params: {
      org_id: string
    }
    body?: {
      /** Mailboxes it may have */
      max_users?: number
      /** Domains it may have */
      max_domains?: number
      /** Bytes it may give to its domains */
      storage_limit?: number
      plan_name?: string
    }
    data: SubOrganization
  }
  /** Change a DLP policy; patterns are replaced as a whole. Operator(admin+) */
  '/security/dlp/policies/{policy_id}': {
    params: {
      policy_id: number
    }
    body: {
      name?: string
      description?: string | null
      policy_type?: "pii" | "keyword" | "regex" | "file_type"
      /** keyword: words and phrases. regex: RE2 expressions. pii: credit_card, iban, us_ssn, uk_nino, ca_sin, nl_bsn, es_dni, fr_nir, it_codice_fiscale, pl_pesel, br_cpf, de_tax_id. file_type: extensions and MIME types */
      patterns?: Array<string>
      action?: "block" | "quarantine" | "encrypt" | "notify" | "log_only"
      severity?: "low" | "medium" | "high" | "critical"
      enabled?: boolean
      apply_to?: "inbound" | "outbound" | "both"
      /** Stored in the audit log */
      reason: string
    }
    data: DlpPolicy
  }
  /** Change a geo policy; omitted fields stay unchanged. Operator(operator+) */
  '/security/geo-policies/{policy_id}': {
    params: {
      policy_id: string
    }
    body: {
      /** ISO 3166-1 alpha-2, in any case */
      allowed_countries?: Array<string> | null
      /** ISO 3166-1 alpha-2, in any case */
      blocked_countries?: Array<string> | null
      /** Hours of the day at which logins are allowed; `{}` removes the restriction */
      time_restrictions?: {
        allowed_hours?: {
          start: number
          end: number
        }
        /** Default 0 */
        timezone_offset?: number
        /** ISO 3166-1 alpha-2, in any case */
        applies_to_countries?: Array<string>
      } | null
      action?: "block" | "challenge" | "log_only" | null
      enabled?: boolean | null
      /** Stored in the audit log */
      reason: string
    }
    data: {
      id: string
      organization_id: string
      organization_name: string
      allowed_countries: Array<string>
      blocked_countries: Array<string>
      time_restrictions: {
        allowed_hours: {
          start: number
          end: number
        }
        /** Hours from UTC */
        timezone_offset: number
        /** Empty: every country */
        applies_to_countries: Array<string>
      } | null
      action: "block" | "challenge" | "log_only"
      enabled: boolean
      created_at: string
      updated_at: string
      /** A GeoIP database is loaded; without it no geo policy is enforced */
      countries_known: boolean
      /** Advice for configuring a GeoIP database, when none is loaded */
      schema_note?: string
    }
  }
  /** Change description, type or active status of an IP access rule. Operator(operator+) */
  '/security/ip-rules/{rule_id}': {
    params: {
      rule_id: string
    }
    body: {
      description?: string | null
      active?: boolean
      rule_type?: "whitelist" | "blacklist"
      /** smtp: sending mail; mailbox: IMAP, POP3, ManageSieve and the web sessions of mailboxes; api: API keys and dashboard sessions */
      applies_to?: Array<"smtp" | "mailbox" | "api">
      /** Cannot be changed; must equal the stored value */
      ip_address?: string
      /** Stored in the audit log */
      reason: string
    }
    data: IpRule
  }
  /** Change the name or the automatic reply of a shared mailbox. Key(write) */
  '/shared-mailboxes/{mailbox_id}': {
    params: {
      mailbox_id: string
    }
    body?: {
      name?: string
      auto_reply_enabled?: boolean
      auto_reply_message?: string | null
    }
    data: SharedMailbox
  }
  /** Change what a member may do. Key(write) */
  '/shared-mailboxes/{mailbox_id}/members/{member_account_id}': {
    params: {
      mailbox_id: string
      /** An id or an address */
      member_account_id: string
    }
    body?: {
      /** Ignored: the path decides */
      email_account_id?: unknown
      permission?: "full_access" | "send_as" | "send_on_behalf" | "read_only"
    }
    data: {
      member_id: string
      email_account_id: string
      email: string
      permission: "full_access" | "send_as" | "send_on_behalf" | "read_only"
    }
  }
  /** Change a template, which makes a new version. Key(write) */
  '/templates/{template_id}': {
    params: {
      template_id: string
    }
    body?: {
      name?: string
      description?: string | null
      category?: "transactional" | "marketing" | "notification" | "general"
      /** Names of variables, for people who use the template */
      variables?: Array<string>
      /** Kept with the template, never returned */
      metadata?: Record<string, unknown>
      /** Liquid; line breaks become spaces */
      subject_template?: string
      /** Liquid in HTML, or in MJML when it begins with `<mjml` */
      html_content?: string
      /** Liquid; made from the HTML when it is absent */
      plaintext_content?: string | null
    }
    data: SavedTemplate
  }
  /** Replace a transport rule; its hit count stays. Key(write) */
  '/transport-rules/{rule_id}': {
    params: {
      rule_id: string
    }
    body: {
      /** Required for platform callers; ignored for tenants */
      organization_id?: string
      name: string
      description?: string | null
      direction?: "inbound" | "outbound" | "both"
      conditions: Array<{
        field: "sender" | "recipient" | "subject" | "header" | "size" | "has_attachment"
        operator: "equals" | "contains" | "starts_with" | "ends_with" | "regex" | "greater_than" | "less_than"
        /** Always a string. For `header`: `Name: text`. For `size`: bytes. For `has_attachment`: true or false */
        value: string
      }>
      condition_logic?: "all" | "any"
      actions: Array<{
        type: "quarantine" | "add_header" | "modify_subject" | "redirect" | "bcc" | "reject" | "add_disclaimer"
        /** Parameters of the action; others are ignored */
        params?: {
          /** add_header: name of the field */
          name?: string
          /** add_header: its text */
          value?: string
          /** modify_subject: added in front, once */
          prefix?: string
          /** modify_subject: added at the end, once */
          suffix?: string
          /** modify_subject: replaces the subject */
          replace?: string
          /** redirect, bcc: target e-mail address */
          address?: string
          /** reject: reply to the sender; ASCII */
          message?: string
          /** add_disclaimer: for plain text */
          text?: string
          /** add_disclaimer: for HTML; without it the text is used */
          html?: string
          /** add_disclaimer: start or end, which is the default */
          position?: string
          /** quarantine: reason, shown to operators */
          reason?: string
        }
      }>
      priority?: number
      enabled?: boolean
    }
    data: TransportRule
  }
  /** Enable or disable a transport rule. Key(write) */
  '/transport-rules/{rule_id}/enable': {
    params: {
      rule_id: string
    }
    query: {
      enabled: boolean
    }
    data: {
      id: string
      enabled: boolean
    }
  }
  /** Set the priorities of rules to 10, 20, 30 … in the order of this list. Key(write) */
  '/transport-rules/reorder': {
    body: {
      /** In the new order; rules that are not listed keep their priority */
      rule_ids: Array<string>
    }
    data: {
      rules: Array<{
        id: string
        priority: number
      }>
    }
  }
  /** Turn the check of links on or off, from the next incoming message on. Key(write) */
  '/url-protection/settings': {
    body: {
      enabled: boolean
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: UrlProtectionSettings
  }
  /** Change name, role or active status of a dashboard user. Key(admin) */
  '/users/{user_id}': {
    params: {
      user_id: string
    }
    body?: {
      full_name?: string | null
      role?: "owner" | "admin" | "read_only"
      is_active?: boolean
    }
    data: DashboardUser
  }
  /** Require a second factor, or stop requiring it. Key(admin) */
  '/users/policy': {
    body: {
      require_two_factor: boolean
      /** For platform callers */
      organization_id?: string
    }
    data: UserPolicy
  }
  /** Change a webhook endpoint or replace its secret; absent fields stay. Key(write) */
  '/webhooks/endpoints/{endpoint_id}': {
    params: {
      endpoint_id: string
    }
    body?: {
      url?: string
      name?: string
      description?: string | null
      active?: boolean
      /** null: all of them. `email.*` means all that begin with `email.` */
      event_types?: Array<string> | null
      secret?: string
    }
    data: {
      id: string
    }
  }
  /** Change the brand of an organization; null removes a field. Operator(admin+) */
  '/whitelabel/config/{org_id}': {
    params: {
      org_id: string
    }
    body?: {
      logo_url?: string | null
      primary_color?: string | null
      secondary_color?: string | null
      brand_name?: string | null
      custom_domain?: string | null
      /** Sanitized before it is stored */
      login_page_html?: string | null
      /** Sanitized before it is stored */
      footer_html?: string | null
      favicon_url?: string | null
      support_email?: string | null
      support_url?: string | null
      /** Sanitized before it is stored */
      custom_css?: string | null
    }
    data: WhitelabelConfig
  }
}

export interface Patch {
  /** Change an OAuth client; new scopes or switching it off end its grants. Key(write) */
  '/oauth/clients/{client_id}': {
    params: {
      client_id: string
    }
    body?: {
      /** Shown to holders who sign in */
      name?: string
      /** Compared exactly. `https`; for public clients also `http` on loopback, where the port is free, and schemes of the program itself such as `com.example.mail:/signed-in` */
      redirect_uris?: Array<string>
      /** Scopes that holders can grant; not for `client_credentials` */
      scopes?: Array<"openid" | "email" | "offline_access" | "imap" | "pop" | "smtp" | "sieve" | "dav" | "jmap">
      /** false ends all its grants and tokens */
      active?: boolean
    }
    data: OauthClient
  }
  /** Change an SMTP credential; absent fields stay, null clears. Key(write) */
  '/smtp-credentials/{credential_id}': {
    params: {
      credential_id: string
    }
    body?: {
      name?: string | null
      allowed_ips?: Array<unknown>
      /** ISO 8601, in UTC unless it says otherwise; empty = never */
      expires_at?: string | null
      hourly_limit?: number | null
      /** Opens and clicks of its mail are tracked */
      tracking_enabled?: boolean
      daily_limit?: number | null
      ip_allowlist_enabled?: boolean
    }
    data: UpdatedSmtpCredential
  }
}

export interface Delete {
  /** Stop a report that is sent at intervals. Key(write) */
  '/analytics/reports/scheduled/{schedule_id}': {
    params: {
      schedule_id: string
    }
    data: unknown
  }
  /** Delete an archived message for good, unless a legal hold keeps it. Key(admin) */
  '/archive/{archive_id}': {
    params: {
      archive_id: string
    }
    query?: {
      /** Required of platform callers */
      organization_id?: string
      /** Required of platform callers; stored in the audit log */
      reason?: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      archive_id: string
    }
  }
  /** End one of the own sessions. Dashboard session */
  '/auth/sessions/{session_id}': {
    params: {
      session_id: string
    }
    data: {
      user_id: string
      /** Sessions that this call ended */
      revoked: number
    }
  }
  /** Delete the retention policy of an organization; all mail is kept from now on. Operator(admin+) */
  '/compliance/retention-policies/{organization_id}': {
    params: {
      organization_id: string
    }
    query: {
      /** Stored in the audit log */
      reason: string
    }
    data: RetentionPolicy
  }
  /** Delete a domain without mailboxes; its aliases and SMTP credentials go with it. Key(write) */
  '/domains/{domain_id}': {
    params: {
      domain_id: string
    }
    data: unknown
  }
  /** Delete a key that was never activated. Key(admin) */
  '/domains/{domain_id}/dkim-keys/{selector}': {
    params: {
      domain_id: string
      selector: string
    }
    data: {
      domain_id: string
      selector: string
    }
  }
  /** Delete a key, also its private part. Key(write) */
  '/encryption/pgp/keys/{fingerprint}': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      fingerprint: string
      deleted: number
    }
  }
  /** Delete a certificate, also its private key. Key(write) */
  '/encryption/smime/certs/{fingerprint}': {
    params: {
      fingerprint: string
    }
    query?: {
      /** Address of the key, needed when several addresses have it */
      email?: string
      /** Platform callers only: the organization that is meant */
      organization_id?: string
    }
    data: {
      fingerprint: string
      deleted: number
    }
  }
  /** Delete a script of a mailbox; an active script is deactivated first. Key(write) */
  '/filters/{name}': {
    params: {
      name: string
    }
    query: {
      /** E-mail address of the mailbox */
      email: string
    }
    data: {
      name: string
    }
  }
  /** Revoke an app password; its program is refused from the next login on. Mailbox session */
  '/mailbox/app-passwords/{app_password_id}': {
    params: {
      app_password_id: string
    }
    data: {
      id: string
      /** The mail server has confirmed that it forgot the cached logins */
      cache_flushed: boolean
    }
  }
  /** No longer block a sender; mail that is in Junk stays there. Mailbox session */
  '/mailbox/blocked-senders/{address}': {
    params: {
      address: string
    }
    data: MailboxBlockedSenders
  }
  /** Delete an own key, also its private part. Mailbox session */
  '/mailbox/encryption/pgp/keys/{fingerprint}': {
    params: {
      fingerprint: string
    }
    data: {
      fingerprint: string
      deleted: number
    }
  }
  /** Delete an own certificate, also its private key. Mailbox session */
  '/mailbox/encryption/smime/certs/{fingerprint}': {
    params: {
      fingerprint: string
    }
    data: {
      fingerprint: string
      deleted: number
    }
  }
  /** End the access of a program; it is refused from the next login on. Mailbox session */
  '/mailbox/grants/{grant_id}': {
    params: {
      grant_id: string
    }
    data: {
      grant_id: string
      /** The mail server has confirmed that it forgot the cached logins */
      cache_flushed: boolean
    }
  }
  /** End one of the own sessions. Mailbox session */
  '/mailbox/sessions/{session_id}': {
    params: {
      session_id: string
    }
    data: {
      /** Sessions that this call ended */
      revoked: number
    }
  }
  /** Disable the second factor; needs a current code. Mailbox session */
  '/mailbox/two-factor': {
    body: {
      /** A current code, or a backup code */
      two_factor_code: string
    }
    data: unknown
  }
  /** Delete a mailbox; 204 when there is none to delete. Key(write) */
  '/mailboxes/email-accounts/{account_id}': {
    params: {
      account_id: string
    }
    data: unknown
  }
  /** Accept mail of a blocked sender again, and send to it again. Operator(operator+) */
  '/message-trace/blocked-senders/{block_id}': {
    params: {
      block_id: string
    }
    data: BlockedSender
  }
  /** Delete an OAuth client with all its grants and tokens. Key(write) */
  '/oauth/clients/{client_id}': {
    params: {
      client_id: string
    }
    data: {
      client_id: string
    }
  }
  /** End a grant; its program is refused from the next login on. Key(write) */
  '/oauth/grants/{grant_id}': {
    params: {
      grant_id: string
    }
    data: {
      grant_id: string
      /** The mail server has confirmed that it forgot the cached logins */
      cache_flushed: boolean
    }
  }
  /** Delete an organization without domains and mailboxes. Operator(admin+) */
  '/organizations/{organization_id}': {
    params: {
      organization_id: string
    }
    data: unknown
  }
  /** Delete an alert channel; returns the rules that name it. Operator(operator+) */
  '/platform/alerts/channels/{channel_id}': {
    params: {
      channel_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      id: string
      deleted: true
      referencing_rules: Array<{
        id: string
        name: string
      }>
    }
  }
  /** Delete an alert rule; its history stays. Operator(operator+) */
  '/platform/alerts/rules/{rule_id}': {
    params: {
      rule_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      id: string
      deleted: true
    }
  }
  /** End one of the own sessions. Operator(support+) */
  '/platform/auth/sessions/{session_id}': {
    params: {
      session_id: string
    }
    data: {
      session_id: string
      revoked: 1
    }
  }
  /** Forget a host that is retired or was mistyped, with the records of its runs. Operator(admin+) */
  '/platform/backups/hosts/{hostname}': {
    params: {
      hostname: string
    }
    body: {
      /** Kept in the audit trail */
      reason: string
    }
    data: {
      hostname: string
      removed_runs: number
    }
  }
  /** Remove a mail host that has no mailboxes. Operator(admin+) */
  '/platform/mail-hosts/{host_id}': {
    params: {
      host_id: string
    }
    data: unknown
  }
  /** End one operator session. Operator(owner+) */
  '/platform/sessions/{session_id}': {
    params: {
      session_id: string
    }
    body: {
      /** Stored in the audit trail */
      reason: string
    }
    data: {
      session_id: string
      revoked: 1
    }
  }
  /** Delete a message from the queue; its sender gets no notice. Operator(operator+) */
  '/queue/message/{queue_id}': {
    params: {
      queue_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      queue_id: string
      deleted: true
    }
  }
  /** Delete a waiting message of the organization; its sender gets no notice. Key(write) */
  '/queue/own/{queue_id}': {
    params: {
      queue_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      queue_id: string
      deleted: true
    }
  }
  /** Remove the limit of a destination, so that the built-in one applies again. Operator(operator+) */
  '/reputation/isp-limits/{domain}': {
    params: {
      /** Domain of the recipients, or `default` for all others */
      domain: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      domain: string
    }
  }
  /** End a warm-up; mail that waits for it is released. Operator(operator+) */
  '/reputation/warm-ups/{ip_address}': {
    params: {
      ip_address: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      ip_address: string
      organization_id: string | null
    }
  }
  /** Suspend a customer of a reseller; its domains and mailboxes remain. Operator(admin+) */
  '/reseller/sub-organizations/{org_id}': {
    params: {
      org_id: string
    }
    data: SubOrganization
  }
  /** Delete a DLP policy; its violations stay. Operator(admin+) */
  '/security/dlp/policies/{policy_id}': {
    params: {
      policy_id: number
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      id: number
      organization_id: string
      violations_retained: number
    }
  }
  /** Lift the block of an IP address; the counters stay. Operator(operator+) */
  '/security/failed-auth/{client_ip}/block': {
    params: {
      /** IPv4 or IPv6, in any spelling; IPv6 means its /64 */
      client_ip: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      client_ip: string
      rows_affected: number
    }
  }
  /** Delete a geo policy; the organization may then send from every country. Operator(operator+) */
  '/security/geo-policies/{policy_id}': {
    params: {
      policy_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      id: string
      organization_id: string
    }
  }
  /** Delete an IP access rule. Operator(operator+) */
  '/security/ip-rules/{rule_id}': {
    params: {
      rule_id: string
    }
    body: {
      /** Stored in the audit log */
      reason: string
    }
    data: {
      id: string
      organization_id: string
      /** 0: every IP address that is on no blacklist is allowed */
      active_whitelist_rules_remaining: number
    }
  }
  /** Delete a shared mailbox: its members go, its address is free at once. Key(write) */
  '/shared-mailboxes/{mailbox_id}': {
    params: {
      mailbox_id: string
    }
    data: unknown
  }
  /** Remove a member from a shared mailbox; its own mailbox is unchanged. Key(write) */
  '/shared-mailboxes/{mailbox_id}/members/{member_account_id}': {
    params: {
      mailbox_id: string
      /** An id or an address */
      member_account_id: string
    }
    data: unknown
  }
  /** Delete an SMTP credential; succeeds also when it is absent. Key(write) */
  '/smtp-credentials/{credential_id}': {
    params: {
      credential_id: string
    }
    data: {
      /** The mail server has forgotten the cached login; repeat a revoke until it has */
      cache_flushed: boolean
    }
  }
  /** Delete a template with its versions; its figures stay. Key(write) */
  '/templates/{template_id}': {
    params: {
      template_id: string
    }
    data: {
      template_id: string
    }
  }
  /** Let an address be sent to again. Key(write) */
  '/tracking/suppress/{email}': {
    params: {
      email: string
    }
    query?: {
      /** Of platform callers; a tenant is always its own */
      organization_id?: string
    }
    data: {
      status: "success"
      email: string
    }
  }
  /** Delete a transport rule. Key(write) */
  '/transport-rules/{rule_id}': {
    params: {
      rule_id: string
    }
    data: {
      id: string
    }
  }
  /** Delete an entry. Key(write) */
  '/url-protection/blocklist/{entry_id}': {
    params: {
      entry_id: string
    }
    data: UrlEntry
  }
  /** Delete an entry that applies to all organizations. Operator(operator+) */
  '/url-protection/global/blocklist/{entry_id}': {
    params: {
      entry_id: string
    }
    body: {
      /** Shown in the list and stored in the audit log */
      reason: string
    }
    data: UrlEntry
  }
  /** Delete a dashboard user or withdraw an invitation. Key(admin) */
  '/users/{user_id}': {
    params: {
      user_id: string
    }
    data: unknown
  }
  /** End one session of a user. Key(admin) */
  '/users/{user_id}/sessions/{session_id}': {
    params: {
      user_id: string
      session_id: string
    }
    data: {
      user_id: string
      /** Sessions that this call ended */
      revoked: number
    }
  }
  /** Delete a webhook endpoint. Key(write) */
  '/webhooks/endpoints/{endpoint_id}': {
    params: {
      endpoint_id: string
    }
    data: unknown
  }
  /** Delete the brand of an organization. Operator(admin+) */
  '/whitelabel/config/{org_id}': {
    params: {
      org_id: string
    }
    data: {
      organization_id: string
      removed: boolean
    }
  }
}

/** The access level that each operation needs. */
export interface Levels {
  'GET /activity/': 'read'
  'POST /aliases/add': 'write'
  'POST /aliases/add/bulk': 'write'
  'POST /aliases/delete': 'write'
  'POST /aliases/edit': 'write'
  'GET /aliases/get/{alias_id}': 'read'
  'GET /aliases/get/stats/{domain}': 'read'
  'GET /analytics/dashboard/{domain}': 'read'
  'GET /analytics/deliverability/{domain}': 'read'
  'GET /analytics/email-volume/{domain}': 'read'
  'GET /analytics/engagement/{domain}': 'read'
  'GET /analytics/health': 'read'
  'GET /analytics/metrics/{domain}': 'read'
  'GET /analytics/reports/{report_id}': 'read'
  'POST /analytics/reports/generate': 'read'
  'GET /analytics/reports/scheduled': 'read'
  'POST /analytics/reports/scheduled': 'write'
  'PUT /analytics/reports/scheduled/{schedule_id}': 'write'
  'DELETE /analytics/reports/scheduled/{schedule_id}': 'write'
  'GET /api-keys/': 'read'
  'POST /api-keys/': 'admin'
  'GET /api-keys/{key_id}': 'read'
  'POST /api-keys/{key_id}/revoke': 'admin'
  'POST /api-keys/{key_id}/rotate': 'admin'
  'GET /archive/{archive_id}': 'read'
  'DELETE /archive/{archive_id}': 'admin'
  'POST /archive/{archive_id}/restore': 'admin'
  'GET /archive/jobs': 'read'
  'POST /archive/jobs': 'admin'
  'GET /archive/jobs/{archive_job_id}': 'read'
  'POST /archive/rekey': 'owner'
  'GET /archive/search': 'read'
  'GET /archive/settings': 'read'
  'PUT /archive/settings': 'admin'
  'GET /archive/spool': 'support'
  'GET /auth/link': 'None'
  'POST /auth/links/accept': 'None'
  'POST /auth/links/inspect': 'None'
  'POST /auth/login': 'None'
  'POST /auth/logout': 'Key or session'
  'GET /auth/me': 'Key or session'
  'POST /auth/password': 'Dashboard session'
  'POST /auth/password-reset': 'None'
  'GET /auth/sessions': 'Dashboard session'
  'DELETE /auth/sessions/{session_id}': 'Dashboard session'
  'POST /auth/sessions/revoke-all': 'Dashboard session'
  'GET /auth/two-factor': 'Dashboard session'
  'POST /auth/two-factor/disable': 'Dashboard session'
  'POST /auth/two-factor/setup': 'Dashboard session'
  'POST /auth/two-factor/verify': 'Dashboard session'
  'GET /bootstrap/': 'None'
  'POST /bootstrap/': 'X-Bootstrap-Token'
  'GET /caldav/addressbooks/{email}': 'read'
  'POST /caldav/addressbooks/{email}': 'write'
  'GET /caldav/calendars/{email}': 'read'
  'POST /caldav/calendars/{email}': 'write'
  'GET /caldav/contacts/{email}': 'read'
  'POST /caldav/contacts/{email}': 'write'
  'POST /caldav/contacts/sync/{email}': 'write'
  'GET /caldav/discovery': 'read'
  'GET /capabilities/': 'None'
  'GET /compliance/audit-log': 'support'
  'GET /compliance/consent/{user_email}': 'admin'
  'POST /compliance/consent/{user_email}': 'admin'
  'POST /compliance/data-erasure/{user_email}': 'owner'
  'POST /compliance/data-erasure/{user_email}/cancel': 'owner'
  'GET /compliance/data-erasure/{user_email}/status': 'admin'
  'POST /compliance/data-export/{user_email}': 'owner'
  'GET /compliance/data-export/{user_email}/download/{export_id}': 'owner'
  'GET /compliance/data-export/{user_email}/status': 'admin'
  'GET /compliance/kept-mail/{user_email}': 'admin'
  'POST /compliance/kept-mail/{user_email}/restore': 'owner'
  'GET /compliance/legal-holds': 'admin'
  'POST /compliance/legal-holds': 'owner'
  'POST /compliance/legal-holds/{hold_id}/release': 'owner'
  'GET /compliance/legal-holds/check/{user_email}': 'admin'
  'GET /compliance/retention-policies': 'admin'
  'PUT /compliance/retention-policies/{organization_id}': 'admin'
  'DELETE /compliance/retention-policies/{organization_id}': 'admin'
  'POST /compliance/retention-policies/{organization_id}/cancel': 'admin'
  'GET /compliance/retention-policies/{organization_id}/preview': 'admin'
  'GET /domains/': 'read'
  'POST /domains/': 'write'
  'GET /domains/{domain_id}': 'read'
  'PUT /domains/{domain_id}': 'write'
  'DELETE /domains/{domain_id}': 'write'
  'GET /domains/{domain_id}/dkim': 'support'
  'GET /domains/{domain_id}/dkim-keys': 'read'
  'POST /domains/{domain_id}/dkim-keys': 'admin'
  'DELETE /domains/{domain_id}/dkim-keys/{selector}': 'admin'
  'POST /domains/{domain_id}/dkim-keys/{selector}/activate': 'admin'
  'POST /domains/{domain_id}/dkim/{selector}/activate': 'operator'
  'POST /domains/{domain_id}/dkim/rotate': 'operator'
  'GET /domains/{domain_id}/dns-checks': 'read'
  'GET /domains/{domain_id}/dns-records': 'read'
  'GET /domains/{domain_id}/mta-sts': 'read'
  'PUT /domains/{domain_id}/mta-sts': 'write'
  'GET /domains/{domain_id}/quotas': 'read'
  'PUT /domains/{domain_id}/quotas': 'write'
  'GET /domains/{domain_id}/tls-reports': 'read'
  'GET /domains/{domain_id}/verify-dns': 'read'
  'POST /domains/{domain_id}/verify-ownership': 'operator'
  'POST /domains/delete/domain': 'write'
  'POST /domains/edit': 'write'
  'POST /domains/edit/domain/policy': 'write'
  'GET /domains/get/domain/policy/{domain}': 'read'
  'GET /domains/stats/{domain}': 'read'
  'POST /encryption/pgp/decrypt': 'read'
  'POST /encryption/pgp/encrypt': 'read'
  'POST /encryption/pgp/generate': 'write'
  'POST /encryption/pgp/import': 'write'
  'GET /encryption/pgp/jobs/{job_id}': 'read'
  'GET /encryption/pgp/keys': 'read'
  'GET /encryption/pgp/keys/{fingerprint}': 'read'
  'DELETE /encryption/pgp/keys/{fingerprint}': 'write'
  'POST /encryption/pgp/keys/{fingerprint}/prefer': 'write'
  'POST /encryption/pgp/sign': 'read'
  'POST /encryption/pgp/verify': 'read'
  'GET /encryption/smime/certs': 'read'
  'GET /encryption/smime/certs/{fingerprint}': 'read'
  'DELETE /encryption/smime/certs/{fingerprint}': 'write'
  'POST /encryption/smime/certs/{fingerprint}/prefer': 'write'
  'POST /encryption/smime/decrypt': 'read'
  'POST /encryption/smime/encrypt': 'read'
  'POST /encryption/smime/import': 'write'
  'POST /encryption/smime/sign': 'read'
  'POST /encryption/smime/verify': 'read'
  'GET /filters/': 'read'
  'POST /filters/': 'write'
  'GET /filters/{name}': 'read'
  'DELETE /filters/{name}': 'write'
  'PUT /filters/{name}/activate': 'write'
  'GET /filters/templates': 'read'
  'POST /filters/vacation': 'write'
  'POST /mailbox-auth/login': 'None'
  'POST /mailbox-auth/logout': 'Mailbox session'
  'GET /mailbox/app-passwords': 'Mailbox session'
  'POST /mailbox/app-passwords': 'Mailbox session'
  'DELETE /mailbox/app-passwords/{app_password_id}': 'Mailbox session'
  'GET /mailbox/apple-profile': 'Mailbox session'
  'GET /mailbox/blocked-senders': 'Mailbox session'
  'POST /mailbox/blocked-senders': 'Mailbox session'
  'DELETE /mailbox/blocked-senders/{address}': 'Mailbox session'
  'GET /mailbox/capabilities': 'Mailbox session'
  'GET /mailbox/encryption/delivery': 'Mailbox session'
  'PUT /mailbox/encryption/delivery': 'Mailbox session'
  'POST /mailbox/encryption/pgp/decrypt': 'Mailbox session'
  'POST /mailbox/encryption/pgp/encrypt': 'Mailbox session'
  'POST /mailbox/encryption/pgp/generate': 'Mailbox session'
  'POST /mailbox/encryption/pgp/import': 'Mailbox session'
  'GET /mailbox/encryption/pgp/jobs/{job_id}': 'Mailbox session'
  'GET /mailbox/encryption/pgp/keys': 'Mailbox session'
  'GET /mailbox/encryption/pgp/keys/{fingerprint}': 'Mailbox session'
  'DELETE /mailbox/encryption/pgp/keys/{fingerprint}': 'Mailbox session'
  'POST /mailbox/encryption/pgp/keys/{fingerprint}/prefer': 'Mailbox session'
  'GET /mailbox/encryption/pgp/keys/{fingerprint}/private': 'Mailbox session'
  'POST /mailbox/encryption/pgp/sign': 'Mailbox session'
  'POST /mailbox/encryption/pgp/verify': 'Mailbox session'
  'GET /mailbox/encryption/smime/certs': 'Mailbox session'
  'GET /mailbox/encryption/smime/certs/{fingerprint}': 'Mailbox session'
  'DELETE /mailbox/encryption/smime/certs/{fingerprint}': 'Mailbox session'
  'POST /mailbox/encryption/smime/certs/{fingerprint}/prefer': 'Mailbox session'
  'GET /mailbox/encryption/smime/certs/{fingerprint}/private': 'Mailbox session'
  'POST /mailbox/encryption/smime/decrypt': 'Mailbox session'
  'POST /mailbox/encryption/smime/encrypt': 'Mailbox session'
  'POST /mailbox/encryption/smime/import': 'Mailbox session'
  'POST /mailbox/encryption/smime/sign': 'Mailbox session'
  'POST /mailbox/encryption/smime/verify': 'Mailbox session'
  'GET /mailbox/forwarding': 'Mailbox session'
  'PUT /mailbox/forwarding': 'Mailbox session'
  'GET /mailbox/grants': 'Mailbox session'
  'DELETE /mailbox/grants/{grant_id}': 'Mailbox session'
  'POST /mailbox/password': 'Mailbox session'
  'GET /mailbox/profile': 'Mailbox session'
  'GET /mailbox/rules': 'Mailbox session'
  'PUT /mailbox/rules': 'Mailbox session'
  'POST /mailbox/rules/test': 'Mailbox session'
  'GET /mailbox/sessions': 'Mailbox session'
  'DELETE /mailbox/sessions/{session_id}': 'Mailbox session'
  'GET /mailbox/two-factor': 'Mailbox session'
  'DELETE /mailbox/two-factor': 'Mailbox session'
  'POST /mailbox/two-factor/confirm': 'Mailbox session'
  'POST /mailbox/two-factor/setup': 'Mailbox session'
  'GET /mailbox/vacation': 'Mailbox session'
  'PUT /mailbox/vacation': 'Mailbox session'
  'POST /mailboxes/add': 'write'
  'POST /mailboxes/delete': 'write'
  'POST /mailboxes/edit': 'write'
  'POST /mailboxes/edit/quota': 'write'
  'GET /mailboxes/email-accounts': 'read'
  'POST /mailboxes/email-accounts': 'write'
  'GET /mailboxes/email-accounts/{account_id}': 'read'
  'PUT /mailboxes/email-accounts/{account_id}': 'write'
  'DELETE /mailboxes/email-accounts/{account_id}': 'write'
  'GET /mailboxes/email-accounts/{account_id}/quotas': 'read'
  'PUT /mailboxes/email-accounts/{account_id}/quotas': 'write'
  'POST /mailboxes/email-accounts/{account_id}/reset-password': 'write'
  'GET /mailboxes/email-accounts/{account_id}/two-factor': 'read'
  'POST /mailboxes/email-accounts/{account_id}/two-factor-reset': 'write'
  'POST /mailboxes/email-accounts/bulk': 'write'
  'GET /mailboxes/get/{mailbox_id}': 'read'
  'GET /mailboxes/get/quota/{mailbox}': 'read'
  'GET /mailboxes/get/stats/{mailbox}': 'read'
  'GET /message-trace/audit': 'support'
  'GET /message-trace/blocked-senders': 'support'
  'DELETE /message-trace/blocked-senders/{block_id}': 'operator'
  'GET /message-trace/quarantine': 'support'
  'POST /message-trace/quarantine/{quarantine_id}/block': 'operator'
  'POST /message-trace/quarantine/{quarantine_id}/delete': 'operator'
  'POST /message-trace/quarantine/{quarantine_id}/release': 'admin'
  'GET /message-trace/trace': 'support'
  'GET /message-trace/trace/{msg_id}': 'support'
  'GET /messages/': 'read'
  'POST /messages/': 'write'
  'GET /messages/{message_id}': 'read'
  'POST /migration/export': 'write'
  'POST /migration/export/bulk': 'write'
  'POST /migration/import': 'write'
  'POST /migration/import/bulk': 'write'
  'GET /migration/jobs': 'read'
  'GET /migration/jobs/{job_id}': 'read'
  'POST /migration/jobs/{job_id}/cancel': 'write'
  'POST /migration/jobs/{job_id}/delta': 'write'
  'GET /migration/jobs/{job_id}/errors': 'read'
  'POST /migration/jobs/{job_id}/retry-failed': 'write'
  'GET /migration/summary': 'read'
  'POST /monitoring/auto-heal': 'operator'
  'GET /monitoring/health': 'support'
  'GET /monitoring/metrics': 'support'
  'GET /monitoring/services': 'support'
  'GET /monitoring/services/{service_name}': 'support'
  'POST /monitoring/services/{service_name}/restart': 'operator'
  'GET /monitoring/stats': 'support'
  'POST /monitoring/webhooks/test': 'operator'
  'GET /oauth/clients': 'read'
  'POST /oauth/clients': 'write'
  'GET /oauth/clients/{client_id}': 'read'
  'PATCH /oauth/clients/{client_id}': 'write'
  'DELETE /oauth/clients/{client_id}': 'write'
  'POST /oauth/clients/{client_id}/rotate-secret': 'write'
  'GET /oauth/grants': 'read'
  'DELETE /oauth/grants/{grant_id}': 'write'
  'GET /organizations/': 'support'
  'POST /organizations/': 'admin'
  'GET /organizations/{organization_id}': 'read'
  'PUT /organizations/{organization_id}': 'write'
  'DELETE /organizations/{organization_id}': 'admin'
  'GET /organizations/{organization_id}/overview': 'read'
  'GET /organizations/{organization_id}/quotas': 'read'
  'PUT /organizations/{organization_id}/quotas': 'admin'
  'POST /organizations/{organization_id}/quotas/clear-override': 'admin'
  'GET /organizations/by-external-id/{external_id}': 'read'
  'GET /platform/alerts/channels': 'support'
  'POST /platform/alerts/channels': 'operator'
  'DELETE /platform/alerts/channels/{channel_id}': 'operator'
  'POST /platform/alerts/channels/{channel_id}/test': 'operator'
  'GET /platform/alerts/history': 'support'
  'GET /platform/alerts/metrics': 'support'
  'GET /platform/alerts/rules': 'support'
  'POST /platform/alerts/rules': 'operator'
  'GET /platform/alerts/rules/{rule_id}': 'support'
  'PUT /platform/alerts/rules/{rule_id}': 'operator'
  'DELETE /platform/alerts/rules/{rule_id}': 'operator'
  'POST /platform/alerts/rules/{rule_id}/evaluate': 'operator'
  'POST /platform/alerts/rules/defaults': 'operator'
  'GET /platform/analytics/growth': 'support'
  'GET /platform/analytics/heatmap': 'support'
  'GET /platform/analytics/overview': 'support'
  'GET /platform/audit': 'support'
  'GET /platform/audit/{audit_id}': 'support'
  'GET /platform/audit/facets': 'support'
  'POST /platform/auth/bootstrap': 'X-Bootstrap-Token'
  'POST /platform/auth/login': 'None'
  'POST /platform/auth/logout': 'Platform(read)'
  'GET /platform/auth/me': 'support'
  'POST /platform/auth/mfa': 'Operator session (partial)'
  'POST /platform/auth/mfa/backup-codes': 'support'
  'POST /platform/auth/mfa/setup': 'Operator session (partial)'
  'POST /platform/auth/password': 'support'
  'GET /platform/auth/sessions': 'support'
  'DELETE /platform/auth/sessions/{session_id}': 'support'
  'GET /platform/backups': 'admin'
  'DELETE /platform/backups/hosts/{hostname}': 'admin'
  'POST /platform/backups/report': 'admin'
  'GET /platform/backups/status': 'admin'
  'GET /platform/deleted-mailboxes': 'support'
  'GET /platform/logs': 'support'
  'GET /platform/mail-hosts': 'support'
  'POST /platform/mail-hosts': 'admin'
  'GET /platform/mail-hosts/{host_id}': 'support'
  'PUT /platform/mail-hosts/{host_id}': 'admin'
  'DELETE /platform/mail-hosts/{host_id}': 'admin'
  'POST /platform/mail-hosts/{host_id}/drain': 'admin'
  'GET /platform/mailbox-moves': 'support'
  'POST /platform/mailbox-moves': 'operator'
  'GET /platform/mailbox-moves/{move_id}': 'support'
  'POST /platform/mailbox-moves/{move_id}/cancel': 'operator'
  'GET /platform/metrics/range': 'support'
  'GET /platform/operators': 'owner'
  'POST /platform/operators': 'owner'
  'GET /platform/operators/{operator_id}': 'owner'
  'PUT /platform/operators/{operator_id}': 'owner'
  'POST /platform/operators/{operator_id}/mfa-reset': 'owner'
  'POST /platform/operators/{operator_id}/password-reset': 'owner'
  'GET /platform/operators/{operator_id}/sessions': 'owner'
  'POST /platform/operators/{operator_id}/sessions/revoke': 'owner'
  'GET /platform/overview': 'support'
  'GET /platform/provisioning-failures': 'support'
  'POST /platform/provisioning-failures/{resource_type}/{resource_id}/retry': 'operator'
  'GET /platform/sessions': 'owner'
  'DELETE /platform/sessions/{session_id}': 'owner'
  'GET /platform/system-mail': 'support'
  'POST /platform/system-mail/test': 'operator'
  'GET /queue/health': 'support'
  'GET /queue/jobs/{domain}': 'support'
  'POST /queue/mail-queue/by-filter': 'operator'
  'POST /queue/mail-queue/by-sender': 'operator'
  'GET /queue/mail-queue/deferred': 'support'
  'POST /queue/mail-queue/flush': 'operator'
  'GET /queue/message/{queue_id}': 'support'
  'DELETE /queue/message/{queue_id}': 'operator'
  'POST /queue/message/{queue_id}/hold': 'operator'
  'POST /queue/message/{queue_id}/release': 'operator'
  'POST /queue/message/{queue_id}/requeue': 'operator'
  'POST /queue/messages': 'operator'
  'GET /queue/own': 'read'
  'DELETE /queue/own/{queue_id}': 'write'
  'GET /queue/queue/domain/{domain}': 'support'
  'GET /queue/queue/status': 'support'
  'GET /queue/samples': 'support'
  'GET /rag/collections/{domain}': 'read'
  'POST /rag/collections/{domain}': 'write'
  'GET /rag/collections/{domain}/stats': 'read'
  'POST /rag/documents/{collection_id}': 'write'
  'GET /rag/health': 'read'
  'GET /rag/organizations/{organization_id}/collections': 'read'
  'GET /rag/organizations/{organization_id}/rag/config': 'read'
  'PUT /rag/organizations/{organization_id}/rag/config': 'write'
  'GET /rag/organizations/{organization_id}/rag/documents': 'read'
  'POST /rag/organizations/{organization_id}/rag/reindex': 'write'
  'GET /rag/organizations/{organization_id}/rag/stats': 'read'
  'GET /rag/rag/config/domain/{domain}': 'read'
  'POST /rag/rag/config/domain/{domain}': 'write'
  'GET /rag/rag/index/status/{domain}': 'read'
  'POST /rag/rag/index/trigger': 'write'
  'POST /rag/search': 'read'
  'GET /rate-limiter/quotas/domain/{domain}': 'read'
  'POST /rate-limiter/quotas/domain/{domain}': 'write'
  'GET /rate-limiter/rate-limits/domain/{domain}': 'read'
  'POST /rate-limiter/rate-limits/domain/{domain}': 'write'
  'GET /rate-limiter/rate-limits/mailbox/{email}': 'read'
  'POST /rate-limiter/rate-limits/mailbox/{email}': 'write'
  'GET /rate-limiter/rate-limits/organization/{organization_id}': 'read'
  'POST /rate-limiter/rate-limits/organization/{organization_id}': 'admin'
  'POST /rate-limiter/rate-limits/reset': 'write'
  'GET /rate-limiter/rate-limits/usage/{domain}': 'read'
  'GET /reputation/domains': 'support'
  'GET /reputation/domains/{domain}': 'support'
  'GET /reputation/feedback-loops': 'support'
  'PUT /reputation/feedback-loops/{feedback_id}': 'operator'
  'GET /reputation/ips': 'support'
  'GET /reputation/isp-limits': 'support'
  'PUT /reputation/isp-limits/{domain}': 'operator'
  'DELETE /reputation/isp-limits/{domain}': 'operator'
  'GET /reputation/summary': 'support'
  'GET /reputation/warm-ups': 'support'
  'POST /reputation/warm-ups': 'operator'
  'PUT /reputation/warm-ups/{ip_address}': 'operator'
  'DELETE /reputation/warm-ups/{ip_address}': 'operator'
  'GET /reseller/billing/summary': 'admin'
  'GET /reseller/sub-organizations': 'admin'
  'POST /reseller/sub-organizations': 'admin'
  'GET /reseller/sub-organizations/{org_id}': 'admin'
  'DELETE /reseller/sub-organizations/{org_id}': 'admin'
  'PUT /reseller/sub-organizations/{org_id}/plan': 'admin'
  'GET /security/dlp/policies': 'operator'
  'POST /security/dlp/policies': 'admin'
  'PUT /security/dlp/policies/{policy_id}': 'admin'
  'DELETE /security/dlp/policies/{policy_id}': 'admin'
  'GET /security/dlp/violations': 'operator'
  'GET /security/dlp/violations/{violation_id}': 'operator'
  'GET /security/dlp/violations/summary': 'operator'
  'GET /security/failed-auth': 'operator'
  'POST /security/failed-auth/{client_ip}/block': 'operator'
  'DELETE /security/failed-auth/{client_ip}/block': 'operator'
  'GET /security/failed-auth/summary': 'operator'
  'GET /security/geo-policies': 'operator'
  'POST /security/geo-policies': 'operator'
  'PUT /security/geo-policies/{policy_id}': 'operator'
  'DELETE /security/geo-policies/{policy_id}': 'operator'
  'GET /security/ip-rules': 'operator'
  'POST /security/ip-rules': 'operator'
  'PUT /security/ip-rules/{rule_id}': 'operator'
  'DELETE /security/ip-rules/{rule_id}': 'operator'
  'GET /security/throttles': 'operator'
  'POST /security/throttles/lift': 'operator'
  'GET /shared-mailboxes': 'read'
  'POST /shared-mailboxes': 'write'
  'GET /shared-mailboxes/{mailbox_id}': 'read'
  'PUT /shared-mailboxes/{mailbox_id}': 'write'
  'DELETE /shared-mailboxes/{mailbox_id}': 'write'
  'POST /shared-mailboxes/{mailbox_id}/members': 'write'
  'PUT /shared-mailboxes/{mailbox_id}/members/{member_account_id}': 'write'
  'DELETE /shared-mailboxes/{mailbox_id}/members/{member_account_id}': 'write'
  'GET /smtp-credentials/': 'read'
  'POST /smtp-credentials/': 'write'
  'GET /smtp-credentials/{credential_id}': 'read'
  'PATCH /smtp-credentials/{credential_id}': 'write'
  'DELETE /smtp-credentials/{credential_id}': 'write'
  'POST /smtp-credentials/{credential_id}/enable': 'write'
  'GET /smtp-credentials/{credential_id}/events': 'read'
  'POST /smtp-credentials/{credential_id}/revoke': 'write'
  'POST /smtp-credentials/{credential_id}/rotate': 'write'
  'GET /smtp-credentials/{credential_id}/usage': 'read'
  'GET /ssl/accounts': 'admin'
  'GET /ssl/certificates': 'support'
  'GET /ssl/certificates/{domain}': 'support'
  'POST /ssl/certificates/{domain}/renew': 'operator'
  'GET /ssl/status': 'support'
  'POST /storage/cleanup': 'operator'
  'GET /storage/history/{entity_type}/{identifier}': 'read'
  'GET /storage/quotas/domain/{domain}': 'read'
  'POST /storage/quotas/domain/{domain}': 'admin'
  'GET /storage/quotas/mailbox/{email}': 'read'
  'POST /storage/quotas/mailbox/{email}': 'admin'
  'GET /storage/usage/domain/{domain}': 'read'
  'GET /storage/usage/mailbox/{email}': 'read'
  'GET /storage/usage/summary': 'support'
  'GET /suppressions/': 'read'
  'GET /templates/': 'read'
  'POST /templates/': 'write'
  'GET /templates/{template_id}': 'read'
  'PUT /templates/{template_id}': 'write'
  'DELETE /templates/{template_id}': 'write'
  'POST /templates/{template_id}/duplicate': 'write'
  'POST /templates/{template_id}/render': 'read'
  'POST /templates/{template_id}/render-many': 'read'
  'POST /templates/{template_id}/send': 'write'
  'GET /templates/{template_id}/stats': 'read'
  'POST /templates/{template_id}/test': 'write'
  'GET /templates/{template_id}/versions': 'read'
  'GET /templates/{template_id}/versions/{version}': 'read'
  'GET /templates/{template_id}/versions/{version}/diff': 'read'
  'POST /templates/{template_id}/versions/{version}/restore': 'write'
  'GET /templates/library': 'read'
  'POST /templates/preview': 'read'
  'GET /tracking/click/{tracking_id}': 'None'
  'GET /tracking/pixel/{tracking_id}': 'None'
  'GET /tracking/stats/domain/{domain}': 'read'
  'GET /tracking/stats/email/{email_id}': 'read'
  'POST /tracking/suppress': 'write'
  'DELETE /tracking/suppress/{email}': 'write'
  'GET /tracking/suppressions': 'support'
  'POST /tracking/suppressions/bulk': 'operator'
  'GET /tracking/unsubscribe/{tracking_id}': 'None'
  'POST /tracking/unsubscribe/{tracking_id}': 'None'
  'GET /transport-rules/': 'read'
  'POST /transport-rules/': 'write'
  'GET /transport-rules/{rule_id}': 'read'
  'PUT /transport-rules/{rule_id}': 'write'
  'DELETE /transport-rules/{rule_id}': 'write'
  'PUT /transport-rules/{rule_id}/enable': 'write'
  'PUT /transport-rules/reorder': 'write'
  'POST /transport-rules/test': 'read'
  'GET /url-protection/blocklist': 'read'
  'POST /url-protection/blocklist': 'write'
  'DELETE /url-protection/blocklist/{entry_id}': 'write'
  'GET /url-protection/clicks': 'read'
  'GET /url-protection/feeds': 'support'
  'GET /url-protection/global/blocklist': 'support'
  'POST /url-protection/global/blocklist': 'operator'
  'DELETE /url-protection/global/blocklist/{entry_id}': 'operator'
  'GET /url-protection/keys': 'support'
  'POST /url-protection/keys/rotate': 'admin'
  'POST /url-protection/scan': 'read'
  'GET /url-protection/settings': 'read'
  'PUT /url-protection/settings': 'write'
  'GET /users/': 'read'
  'POST /users/': 'admin'
  'GET /users/{user_id}': 'read'
  'PUT /users/{user_id}': 'admin'
  'DELETE /users/{user_id}': 'admin'
  'POST /users/{user_id}/invite': 'admin'
  'POST /users/{user_id}/password-reset': 'admin'
  'GET /users/{user_id}/sessions': 'read'
  'DELETE /users/{user_id}/sessions/{session_id}': 'admin'
  'POST /users/{user_id}/sessions/revoke': 'admin'
  'POST /users/{user_id}/two-factor-reset': 'admin'
  'GET /users/policy': 'read'
  'PUT /users/policy': 'admin'
  'GET /webhooks/dead-letters': 'read'
  'GET /webhooks/dead-letters/{dead_letter_id}': 'support'
  'GET /webhooks/dead-letters/{dead_letter_id}/mine': 'read'
  'POST /webhooks/dead-letters/{dead_letter_id}/replay': 'operator'
  'POST /webhooks/dead-letters/{dead_letter_id}/replay-mine': 'write'
  'POST /webhooks/dead-letters/{dead_letter_id}/resolve': 'operator'
  'POST /webhooks/dead-letters/replay': 'operator'
  'POST /webhooks/dead-letters/replay-bulk': 'operator'
  'GET /webhooks/deliveries': 'read'
  'GET /webhooks/deliveries/{delivery_id}': 'read'
  'GET /webhooks/endpoints': 'read'
  'POST /webhooks/endpoints': 'write'
  'GET /webhooks/endpoints/{endpoint_id}': 'read'
  'PUT /webhooks/endpoints/{endpoint_id}': 'write'
  'DELETE /webhooks/endpoints/{endpoint_id}': 'write'
  'POST /webhooks/endpoints/{endpoint_id}/rotate-secret': 'write'
  'POST /webhooks/endpoints/{endpoint_id}/test': 'write'
  'GET /webhooks/event-types': 'read'
  'GET /whitelabel/brand': 'None'
  'GET /whitelabel/config/{org_id}': 'admin'
  'PUT /whitelabel/config/{org_id}': 'admin'
  'DELETE /whitelabel/config/{org_id}': 'admin'
  'GET /whitelabel/config/{org_id}/preview': 'admin'
  'GET /whitelabel/config/{org_id}/preview/page': 'admin'
  'POST /whitelabel/config/{org_id}/verify-domain': 'admin'
}
