// Written by `npm run db:types` from the migrated database; do not edit.
import type { Generated, GeneratedAlways } from 'kysely'

/** Parsed JSON both ways; text would be stored as a JSON string. */
export type Json = object
export type JsonWithDefault = Generated<object>
/** ISO 8601 text, in UTC. */
export type Timestamp = string

export interface Tables {
  account_links: {
    id: string
    kind: 'invitation' | 'password_reset'
    user_id: string | null
    operator_id: string | null
    token_hash: string
    sealed_token: Buffer | null
    mail_status: 'pending' | 'sent' | 'failed' | 'none'
    mail_error: string | null
    mail_attempts: Generated<number>
    mail_due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    expires_at: Timestamp
    created_at: Generated<Timestamp>
  }
  acme_accounts: {
    id: string
    directory_url: string
    email: string
    account_key: Buffer
    certs_issued: Generated<number>
    success_count: Generated<number>
    failure_count: Generated<number>
    last_used: Timestamp | null
    registered_at: Timestamp | null
    created_at: Generated<Timestamp>
  }
  acme_challenges: {
    token: string
    key_authorization: string
    order_id: string
    expires_at: Timestamp
  }
  acme_orders: {
    id: string
    certificate_id: string
    state: Generated<'waiting' | 'running' | 'done' | 'failed'>
    attempts: Generated<number>
    new_key: Generated<boolean>
    next_attempt_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    begun_at: Timestamp | null
    finished_at: Timestamp | null
    created_at: Generated<Timestamp>
  }
  addresses: {
    address: string
    claim_id: Generated<string>
    kind: 'mailbox' | 'alias' | 'shared_mailbox' | 'smtp_credential'
    owner_id: string
  }
  alert_channels: {
    id: string
    name: string
    type: 'email' | 'webhook'
    target: string
    enabled: Generated<boolean>
    signing_secret: Buffer | null
    last_used_at: Timestamp | null
    last_error: string | null
    created_at: Generated<Timestamp>
  }
  alert_events: {
    id: GeneratedAlways<number>
    rule_id: string | null
    rule_name: string
    metric: string
    comparator: string
    severity: 'critical' | 'warning' | 'info'
    value: number | null
    threshold: number
    state: 'firing' | 'resolved'
    message: string | null
    created_at: Timestamp
    notified_at: Timestamp | null
    resolved_at: Timestamp | null
  }
  alert_notifications: {
    id: GeneratedAlways<number>
    event_id: number
    channel_id: string
    kind: 'firing' | 'resolved'
    attempts: Generated<number>
    due_at: Timestamp
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    done_at: Timestamp | null
    last_error: string | null
    created_at: Timestamp
  }
  alert_rules: {
    id: string
    name: string
    description: string | null
    metric: string
    comparator: '>' | '>=' | '<' | '<=' | '=='
    threshold: number
    for_seconds: Generated<number>
    severity: Generated<'critical' | 'warning' | 'info'>
    enabled: Generated<boolean>
    channel_ids: Generated<string[]>
    organization_id: string | null
    evaluated_at: Timestamp | null
    breach_began_at: Timestamp | null
    last_fired_at: Timestamp | null
    last_notified_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  aliases: {
    id: string
    organization_id: string
    domain_id: string
    source: string
    destination: string
    destinations: string[]
    active: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  analytics_reports: {
    report_id: string
    organization_id: string
    domain: string
    report_type: string
    period_days: number
    data: Json
    generated_at: Generated<Timestamp>
  }
  analytics_schedules: {
    schedule_id: string
    organization_id: string
    domain: string
    report_type: string
    interval: string
    recipients: Generated<string[]>
    timezone: Generated<string>
    webhook_url: string | null
    webhook_secret: Buffer | null
    created_at: Generated<Timestamp>
    due_at: Timestamp
    last_run_at: Timestamp | null
    last_error: string | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  api_keys: {
    id: string
    key_id: string
    key_hash: string
    name: string
    permissions: JsonWithDefault
    scopes: string[] | null
    created_by: string | null
    organization_id: string | null
    scope: Generated<'organization' | 'platform'>
    active: Generated<boolean>
    expires_at: Timestamp | null
    last_used: Timestamp | null
    created_at: Generated<Timestamp>
  }
  app_passwords: {
    id: string
    organization_id: string
    email_account_id: string
    name: string
    scopes: string[]
    password_hash: string
    last_used_at: Timestamp | null
    last_used_service: string | null
    last_used_ip: string | null
    created_at: Generated<Timestamp>
  }
  archive_checks: {
    id: string
    begun_at: Timestamp
    finished_at: Timestamp | null
    checked: Generated<number>
    damaged: Generated<number>
  }
  archive_deletions: {
    id: GeneratedAlways<number>
    storage_type: string
    storage_key: string
    spool_id: string | null
    not_before: Generated<Timestamp>
    created_at: Generated<Timestamp>
  }
  archive_jobs: {
    id: string
    organization_id: string
    kind: 'import' | 'rekey'
    email: string | null
    status: Generated<'queued' | 'running' | 'completed' | 'failed'>
    total: number | null
    done: Generated<number>
    added: Generated<number>
    failed: Generated<number>
    position: Generated<string>
    error: string | null
    created_by: string
    created_at: Generated<Timestamp>
    finished_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    unfinished_folder: Json | null
  }
  archive_keys: {
    id: string
    organization_id: string | null
    recipient: string
    sealed_identity: Buffer | null
    created_at: Generated<Timestamp>
    retired_at: Timestamp | null
  }
  archive_settings: {
    organization_id: string
    enabled: Generated<boolean>
    updated_at: Generated<Timestamp>
  }
  archive_spools: {
    id: string
    host: string
    failures: Generated<number>
    problem: string | null
    problem_since: Timestamp | null
    seen_at: Generated<Timestamp>
  }
  archived_copies: {
    archive_id: string
    role: 'sender' | 'recipient'
    address: string
    organization_id: string
    is_own: boolean
    received_at: Timestamp
  }
  archived_messages: {
    id: string
    organization_id: string
    content_hash: Buffer
    message_id: string | null
    sender: string
    subject: string | null
    direction: 'inbound' | 'outbound'
    received_at: Timestamp
    archived_at: Generated<Timestamp>
    size: number
    stored_size: number
    storage_type: Generated<'spool' | 's3' | 'local'>
    storage_key: string
    spool_id: string | null
    sealed_for: string[]
    search: string
    retry_at: Generated<Timestamp>
  }
  attachment_usage: {
    email: string
    files: Generated<number>
    attachments: Generated<number>
    bytes: Generated<number>
  }
  backup_runs: {
    id: GeneratedAlways<number>
    backup_id: string
    hostname: string
    backup_type: string
    target: string
    status: 'running' | 'completed' | 'failed'
    size_bytes: number | null
    storage_path: string | null
    checksum: string | null
    encrypted: boolean
    error_message: string | null
    started_at: Generated<Timestamp>
    completed_at: Timestamp | null
  }
  blocked_senders: {
    id: string
    organization_id: string
    sender: string
    reason: string
    quarantine_id: string | null
    created_by: string
    created_at: Generated<Timestamp>
  }
  bootstrap_tokens: {
    token_hash: string
    kind: 'organization' | 'operator'
    created_at: Generated<Timestamp>
  }
  calendar_mail: {
    id: string
    seq: GeneratedAlways<number>
    organization_id: string
    account_id: string
    collection_id: string | null
    uid: string
    method: 'REQUEST' | 'CANCEL' | 'REPLY'
    sender: string
    recipient: string
    content: string
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    created_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  certificates: {
    id: string
    domain: string
    names: Generated<string[]>
    organization_id: string | null
    status: 'active' | 'expired' | 'revoked' | 'pending' | 'failed'
    issuer: string | null
    algorithm: string | null
    key_size: number | null
    auto_renew: Generated<boolean>
    error_message: string | null
    valid_from: Timestamp | null
    valid_until: Timestamp | null
    issued_at: Timestamp | null
    last_renewed: Timestamp | null
    fingerprint: string | null
    key_hash: string | null
    next_key_hash: string | null
    self_signed: boolean | null
    path: string
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    sealed_content: Buffer | null
    sealed_next_key: Buffer | null
  }
  compliance_audit: {
    id: GeneratedAlways<number>
    action: string
    organization_id: string | null
    user_email: string | null
    performed_by: string | null
    ip_address: string | null
    details: JsonWithDefault
    created_at: Generated<Timestamp>
  }
  consents: {
    id: string
    user_email: string
    consent_type: string
    granted: boolean
    ip_address: string | null
    user_agent: string | null
    granted_at: Timestamp | null
    revoked_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  daemon_heartbeats: {
    instance: string
    name: string
    host: string
    address: string
    started_at: Timestamp
    seen_at: Timestamp
    requests: Generated<number>
    errors: Generated<number>
    sampled_requests: Generated<number>
    sampled_errors: Generated<number>
    sampled_at: Timestamp | null
    claims_freed: Generated<boolean>
  }
  dashboard_users: {
    id: string
    organization_id: string
    email: string
    full_name: string | null
    password_hash: string | null
    role: Generated<'owner' | 'admin' | 'read_only'>
    is_active: Generated<boolean>
    last_login_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  data_erasures: {
    id: string
    organization_id: string | null
    account_id: string | null
    user_email: string
    status: Generated<'pending' | 'soft_deleted' | 'hard_deleted' | 'cancelled'>
    requested_by: string
    reason: string | null
    previous_status: string | null
    removed: JsonWithDefault
    attempts: Generated<number>
    error_message: string | null
    begun_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    due_at: Timestamp
    soft_deleted_at: Timestamp
    hard_delete_scheduled_at: Timestamp
    hard_deleted_at: Timestamp | null
    created_at: Generated<Timestamp>
  }
  data_export_parts: {
    file_name: string
    number: number
    export_id: string
    content: Buffer
    created_at: Generated<Timestamp>
  }
  data_exports: {
    id: string
    organization_id: string | null
    account_id: string | null
    user_email: string
    status: Generated<'pending' | 'processing' | 'completed' | 'failed' | 'expired'>
    export_type: Generated<'full' | 'emails' | 'contacts' | 'settings'>
    file_name: string | null
    file_key: Buffer | null
    file_nonce: Buffer | null
    file_tag: Buffer | null
    file_size: Generated<number>
    contents: JsonWithDefault
    requested_by: string
    error_message: string | null
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    completed_at: Timestamp | null
    expires_at: Timestamp | null
    created_at: Generated<Timestamp>
  }
  dav_collections: {
    id: string
    organization_id: string
    account_id: string | null
    shared_mailbox_id: string | null
    kind: 'calendar' | 'addressbook'
    uri: string
    properties: JsonWithDefault
    components: Generated<string[]>
    seq: Generated<number>
    forgotten_seq: Generated<number>
    object_count: Generated<number>
    bytes: Generated<number>
    created_at: Generated<Timestamp>
    chosen_at: Timestamp | null
  }
  dav_kept_objects: {
    id: Generated<string>
    organization_id: string
    account_id: string | null
    email: string
    kind: 'calendar' | 'addressbook'
    collection: string
    uri: string
    data: string
    modified_at: Timestamp
  }
  dav_objects: {
    collection_id: string
    uri: string
    etag: string
    data: string
    size: number
    uid: string
    component: string | null
    first_at: number | null
    last_at: number | null
    seq: number
    gone: Generated<boolean>
    modified_at: Generated<Timestamp>
    schedule_tag: string | null
  }
  day_partitions: {
    table_name: string | null
    partition_name: string | null
    begins_at: Timestamp | null
    ends_at: Timestamp | null
  }
  deleted_mailboxes: {
    id: string
    organization_id: string
    email: string
    login: GeneratedAlways<string>
    deleted_at: Generated<Timestamp>
    due_at: Generated<Timestamp>
    attempts: Generated<number>
    error_message: string | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  dkim_keys: {
    id: string
    domain_id: string
    selector: string
    algorithm: Generated<string>
    key_size: number
    public_key: string
    private_key: Buffer
    active: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    retired_at: Timestamp | null
  }
  dlp_policies: {
    id: GeneratedAlways<number>
    organization_id: string
    name: string
    description: string | null
    policy_type: Generated<'pii' | 'keyword' | 'regex' | 'file_type'>
    patterns: Json
    action: Generated<'block' | 'quarantine' | 'encrypt' | 'notify' | 'log_only'>
    severity: Generated<'low' | 'medium' | 'high' | 'critical'>
    enabled: Generated<boolean>
    apply_to: Generated<'inbound' | 'outbound' | 'both'>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  dlp_violations: {
    id: GeneratedAlways<number>
    organization_id: string
    policy_id: number
    message_id: string | null
    sender: string
    recipient: string | null
    violation_type: string
    action_taken: string
    severity: string
    has_match: boolean
    matched_pattern: string | null
    details: Json | null
    created_at: Generated<Timestamp>
  }
  dns_checks: {
    id: string
    domain_id: string
    current: Generated<boolean>
    mx: 'pass' | 'missing' | 'different' | 'unknown'
    spf: 'pass' | 'missing' | 'different' | 'unknown'
    dkim: 'pass' | 'missing' | 'different' | 'unknown'
    dmarc: 'pass' | 'missing' | 'different' | 'unknown'
    ownership: 'pass' | 'missing' | 'different' | 'unknown'
    first_seen_at: Timestamp
    last_seen_at: Timestamp
  }
  domain_ratings: {
    domain_id: string
    score: number
    told_at: Timestamp
  }
  domain_reputation: {
    id: string
    domain_id: string
    organization_id: string
    domain: string
    period_type: 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY'
    period_start: Timestamp
    period_end: Timestamp
    overall_score: Generated<number>
    deliverability_score: Generated<number>
    engagement_score: Generated<number>
    emails_sent: Generated<number>
    emails_delivered: Generated<number>
    emails_bounced: Generated<number>
    emails_complained: Generated<number>
    emails_opened: Generated<number>
    emails_clicked: Generated<number>
    isp_data: Json | null
    trend: number | null
    is_newest: Generated<boolean>
  }
  domains: {
    id: string
    organization_id: string
    domain: string
    external_id: string | null
    description: string | null
    active: Generated<boolean>
    verified_at: Timestamp | null
    max_quota: Generated<number>
    max_users: Generated<number>
    dkim_enabled: Generated<boolean>
    dkim_selector: Generated<string>
    rate_limits: JsonWithDefault
    storage_quotas: JsonWithDefault
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    total_email_accounts: Generated<number>
    total_storage_used: Generated<number>
    total_email_storage: Generated<number>
    total_attachment_storage: Generated<number>
    total_emails: Generated<number>
    total_attachments: Generated<number>
    last_storage_calculation: Timestamp | null
    storage_calculation_time_ms: number | null
    rate_usage_data: Json | null
    quota_override: Generated<boolean>
    quota_override_at: Timestamp | null
    quota_override_by: string | null
    policy_bl_only: number | null
    policy_reject_spam: number | null
    policy_greylist: number | null
    policy_rbl: number | null
    inactive_email_accounts: Generated<number>
    suspended_email_accounts: Generated<number>
    allotted_storage: Generated<string>
    tracking_enabled: Generated<boolean>
    ownership_verified_at: Timestamp | null
    ownership_checked_at: Timestamp | null
    ownership_warned_at: Timestamp | null
    mta_sts_mode: Generated<'none' | 'testing' | 'enforce'>
    mta_sts_problem: string | null
    mta_sts_checked_at: Timestamp | null
    hosted: GeneratedAlways<boolean>
  }
  email_accounts: {
    id: string
    organization_id: string
    domain_id: string
    email: string
    external_id: string | null
    name: string | null
    password_hash: string
    status: Generated<'active' | 'inactive' | 'suspended'>
    storage_quota: Generated<number>
    storage_used: Generated<number>
    must_change_password: Generated<boolean>
    password_change_reason: string | null
    password_changed_at: Timestamp | null
    last_login: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    attachment_storage_used: Generated<number>
    email_storage_used: Generated<number>
    total_files: Generated<number>
    total_attachments: Generated<number>
    total_emails: Generated<number>
    rate_limits: JsonWithDefault
    storage_quotas: JsonWithDefault
    rate_usage_data: Json | null
    forward_enabled: Generated<boolean>
    forward_destination: string | null
    vacation_enabled: Generated<boolean>
    vacation_message: string | null
    last_activity: Timestamp | null
    last_storage_calculation: Timestamp | null
    quota_override: Generated<boolean>
    quota_override_at: Timestamp | null
    quota_override_by: string | null
    search_text: GeneratedAlways<string | null>
  }
  ended_logins: {
    login: string
    changes: Generated<number>
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  engagement_days: {
    organization_id: string
    domain: string
    bucket: Timestamp
    opened: Generated<number>
    clicked: Generated<number>
    unsubscribed: Generated<number>
    complained: Generated<number>
    last_opened: Generated<number>
    last_clicked: Generated<number>
  }
  engagement_pending: {
    id: GeneratedAlways<number>
    organization_id: string
    domain: string
    bucket: Timestamp
    event_type: 'opened' | 'clicked' | 'unsubscribed' | 'complained'
    recipient_key: number
  }
  engagement_quarters: {
    organization_id: string
    domain: string
    bucket: Timestamp
    opened: Generated<number>
    clicked: Generated<number>
    unsubscribed: Generated<number>
    complained: Generated<number>
    last_opened: Generated<number>
    last_clicked: Generated<number>
  }
  engagement_recipients: {
    organization_id: string
    domain: string
    event_type: 'opened' | 'clicked'
    recipient_key: number
    day: string
    last_quarter: Timestamp
  }
  events: {
    sequence: Generated<number>
    id: string
    event: string
    source: string
    org_id: string | null
    domain: string | null
    tags: JsonWithDefault
    user_variables: JsonWithDefault
    data: Json
    metadata: JsonWithDefault
    created_at: Generated<Timestamp>
  }
  failed_auth_attempts: {
    id: string
    client_ip: string
    username: string | null
    service: string
    failure_reason: string | null
    attempt_count: Generated<number>
    first_attempt_at: Timestamp
    last_attempt_at: Timestamp
    blocked_until: Timestamp | null
    recent_failures: Generated<string[]>
    counterparts: Generated<string[]>
  }
  feedback_loops: {
    id: string
    organization_id: string
    original_recipient: string
    complaint_recipient: string | null
    isp_name: string
    feedback_type: Generated<string>
    email_id: string | null
    subject: string | null
    sender: string | null
    sender_domain: string | null
    digest: string | null
    processed: Generated<boolean>
    suppression_added: Generated<boolean>
    created_at: Timestamp
    processed_at: Timestamp | null
  }
  geo_policies: {
    id: string
    organization_id: string
    allowed_countries: Generated<string[]>
    blocked_countries: Generated<string[]>
    time_restrictions: Json | null
    action: Generated<'block' | 'challenge' | 'log_only'>
    enabled: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  host_health: {
    host: string
    resource: 'cpu' | 'memory' | 'disk'
    level: 'ok' | 'warning' | 'critical'
    percent: number
    checked_at: Timestamp
    changed_at: Timestamp
  }
  idempotency_keys: {
    caller: string
    method: string
    path: string
    key: string
    request_hash: string
    state: 'running' | 'committed' | 'completed'
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    response_status: number | null
    response: Buffer | null
    created_at: Generated<Timestamp>
    expires_at: Timestamp
  }
  ip_access_rules: {
    id: string
    organization_id: string
    rule_type: 'whitelist' | 'blacklist'
    ip_address: string
    applies_to: Generated<string[]>
    description: string | null
    active: Generated<boolean>
    created_by: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  ip_reputation: {
    id: string
    ip_address: string
    reputation_score: Generated<number>
    total_connections: Generated<number>
    total_messages: Generated<number>
    spam_count: Generated<number>
    bounce_count: Generated<number>
    auth_failure_count: Generated<number>
    listed_zones: Generated<string[]>
    block_reason: string | null
    block_until: Timestamp | null
    first_seen: Timestamp
    last_seen: Timestamp
    updated_at: Timestamp
  }
  isp_limits: {
    domain: string
    hourly_limit: number
    daily_limit: number
    burst_limit: number
    delay_ms: number
    max_concurrent: number
    updated_at: Timestamp
  }
  jmap_accounts: {
    id: string
    organization_id: string
    email_account_id: string | null
    shared_mailbox_id: string | null
    state: number
    forgotten: number
    vacation_html: string | null
    used_at: Generated<Timestamp>
    created_at: Generated<Timestamp>
  }
  jmap_changes: {
    account_id: string
    state: number
    kind: 'Mailbox' | 'Email' | 'Thread' | 'Identity' | 'EmailSubmission' | 'VacationResponse'
    object_id: string
    action: 'created' | 'updated' | 'destroyed'
    counts_only: Generated<boolean>
    changed_at: Generated<Timestamp>
  }
  jmap_emails: {
    account_id: string
    id: string
    thread_id: string
    received_at: Timestamp
    sent_at: Timestamp | null
    size: number
    head: Json
    subject: string
    from_text: string
    to_text: string
    cc_text: string
    bcc_text: string
    from_sort: string
    to_sort: string
    subject_sort: string
    preview: string
    has_attachment: boolean
    keywords: string[]
    is_unread: boolean
    is_orphan: Generated<boolean>
  }
  jmap_identities: {
    id: string
    account_id: string
    email: string
    name: Generated<string>
    reply_to: Json | null
    bcc: Json | null
    text_signature: Generated<string>
    html_signature: Generated<string>
    may_delete: boolean
    created_at: Generated<Timestamp>
  }
  jmap_mailboxes: {
    account_id: string
    id: string
    path: string
    name: string
    parent_id: string | null
    role: string | null
    is_subscribed: boolean
    sort_order: Generated<number>
    uid_validity: number
    modseq: Generated<number>
    uid_next: Generated<number>
    indexed_from: Generated<number>
    total_emails: Generated<number>
    unread_emails: Generated<number>
    total_threads: Generated<number>
    unread_threads: Generated<number>
  }
  jmap_message_ids: {
    account_id: string
    message_hash: string
    thread_id: string
  }
  jmap_places: {
    account_id: string
    mailbox_id: string
    uid: number
    email_id: string
    thread_id: string
    keywords: string[]
  }
  jmap_push_subscriptions: {
    id: string
    email_account_id: string
    device_id: string
    url: string
    keys: Json | null
    types: string[] | null
    verification_code: string
    is_verified: Generated<boolean>
    expires_at: Timestamp
    sent_states: JsonWithDefault
    failures: Generated<number>
    created_at: Generated<Timestamp>
    app_password_id: string | null
    grant_id: string | null
    session_id: string | null
  }
  jmap_submissions: {
    id: string
    account_id: string
    identity_id: string
    email_id: string
    thread_id: string
    envelope: Json
    send_at: Timestamp
    delivery_status: Json
  }
  jmap_thread_counts: {
    account_id: string
    mailbox_id: string
    thread_id: string
    emails: number
    unread_emails: number
    is_unread: boolean
  }
  jmap_upload_pieces: {
    upload_id: string
    number: number
    bytes: Buffer
  }
  jmap_uploads: {
    id: string
    account_id: string
    media_type: string
    size: number | null
    created_at: Generated<Timestamp>
  }
  job_runs: {
    name: string
    begun_at: Timestamp
  }
  legal_holds: {
    id: GeneratedAlways<number>
    organization_id: string
    name: string
    description: string | null
    custodians: Generated<string[]>
    reason: string
    start_date: Generated<Timestamp>
    end_date: Timestamp | null
    active: Generated<boolean>
    created_by: string
    released_by: string | null
    released_at: Timestamp | null
    release_reason: string | null
    enforced_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    created_at: Generated<Timestamp>
  }
  mail_encryption: {
    account_id: string
    organization_id: string
    enabled: boolean
    updated_at: Generated<Timestamp>
    method: Generated<'pgp' | 'smime'>
  }
  mail_hosts: {
    id: string
    name: string
    roles: string[]
    state: Generated<'active' | 'draining' | 'away'>
    address: string
    imap_port: number
    pop3_port: number
    sieve_port: number
    lmtp_port: number
    sync_port: number
    doveadm_url: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  mail_log: {
    id: string
    timestamp: Timestamp
    sender: Generated<string>
    recipient: Generated<string>
    organization_id: string | null
    subject: string | null
    status: 'queued' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'rejected' | 'deferred'
    message_id: string | null
    queue_id: string | null
    relay: string | null
    size: number | null
    delays: string | null
    dsn: string | null
    bounce_reason: string | null
    spam_score: number | null
    sasl_username: string | null
    credential_id: string | null
    original_recipient: string | null
    bounce_type: 'HARD' | 'SOFT' | 'BLOCK' | null
    superseded: Generated<boolean>
  }
  mail_log_day_counts: {
    kind: 'alias' | 'credential' | 'domain'
    name: string
    organization_id: Generated<string>
    status: string
    day: string
    messages: number
  }
  mail_log_messages: {
    log_name: string
    queue_id: string
    seen: number
    message: Json
  }
  mail_log_moves: {
    day: string
    copy_id: string | null
    row_count: number | null
    copied_at: Timestamp | null
    moved_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  mail_log_positions: {
    name: string
    head: Generated<Buffer>
    offset: Generated<number>
    inode: Generated<string>
    counted: JsonWithDefault
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  mail_scores: {
    message_id: string
    organization_id: string
    score: number
    scanned_at: Timestamp
  }
  mail_traffic_days: {
    organization_id: string
    domain: string
    bucket: Timestamp
    sent: Generated<number>
    delivered: Generated<number>
    bounced: Generated<number>
    deferred: Generated<number>
    rejected: Generated<number>
    inbound: Generated<number>
    inbound_delivered: Generated<number>
    inbound_bounced: Generated<number>
    inbound_deferred: Generated<number>
    inbound_rejected: Generated<number>
    spam_scores: Generated<number>
    spam_score_sum: Generated<number>
    attempts: Generated<number>
  }
  mail_traffic_hours: {
    organization_id: string
    bucket: Timestamp
    sent: Generated<number>
    delivered: Generated<number>
    bounced: Generated<number>
    deferred: Generated<number>
    rejected: Generated<number>
    inbound: Generated<number>
    inbound_delivered: Generated<number>
    inbound_bounced: Generated<number>
    inbound_deferred: Generated<number>
    inbound_rejected: Generated<number>
    spam_scores: Generated<number>
    spam_score_sum: Generated<number>
    attempts: Generated<number>
  }
  mail_traffic_pending: {
    id: GeneratedAlways<number>
    organization_id: string
    domain: string
    bucket: Timestamp
    sent: Generated<number>
    delivered: Generated<number>
    bounced: Generated<number>
    deferred: Generated<number>
    rejected: Generated<number>
    inbound: Generated<number>
    inbound_delivered: Generated<number>
    inbound_bounced: Generated<number>
    inbound_deferred: Generated<number>
    inbound_rejected: Generated<number>
    spam_scores: Generated<number>
    spam_score_sum: Generated<number>
    attempts: Generated<number>
  }
  mail_traffic_quarters: {
    organization_id: string
    domain: string
    bucket: Timestamp
    sent: Generated<number>
    delivered: Generated<number>
    bounced: Generated<number>
    deferred: Generated<number>
    rejected: Generated<number>
    inbound: Generated<number>
    inbound_delivered: Generated<number>
    inbound_bounced: Generated<number>
    inbound_deferred: Generated<number>
    inbound_rejected: Generated<number>
    spam_scores: Generated<number>
    spam_score_sum: Generated<number>
    attempts: Generated<number>
  }
  mailbox_leftovers: {
    mailbox_id: string
    host_id: string
    remove_after: Timestamp
    attempts: Generated<number>
    error_message: string | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  mailbox_moves: {
    id: Generated<string>
    mailbox_id: string
    organization_id: string
    source_id: string
    target_id: string
    state: Generated<'waiting' | 'copying' | 'locked' | 'switched' | 'done' | 'failed' | 'cancelled'>
    messages: number | null
    attempts: Generated<number>
    error_message: string | null
    due_at: Generated<Timestamp>
    created_by: string | null
    created_at: Generated<Timestamp>
    finished_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  mailbox_places: {
    mailbox_id: string
    organization_id: string
    host_id: string
    locked: Generated<boolean>
  }
  mailbox_scripts_pending: {
    email: string
    changes: Generated<number>
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  metric_samples: {
    metric: string
    label: string
    minute: Timestamp
    value: number
  }
  migration_errors: {
    id: GeneratedAlways<number>
    job_id: string
    retry_job_id: string | null
    folder: string
    message_uid: Generated<string>
    message_id: Generated<string>
    error_type: string
    error_message: string
    retryable: Generated<boolean>
    retried: Generated<boolean>
    created_at: Generated<Timestamp>
  }
  migration_folders: {
    id: GeneratedAlways<number>
    pair_id: string
    source_path: string
    target_path: string
    source_validity: number
    target_validity: number
    target_floor: number
    settled: string | null
    job_id: string | null
    job_floor: Generated<number>
  }
  migration_jobs: {
    id: string
    organization_id: string | null
    pair_id: string | null
    parent_job_id: string | null
    direction: 'import' | 'export'
    status: Generated<'pending' | 'running' | 'completed' | 'failed' | 'cancelled'>
    is_delta: Generated<boolean>
    is_retry: Generated<boolean>
    mailbox: string
    remote_host: string
    remote_port: number
    remote_ssl: boolean
    remote_tls_verify: boolean
    remote_username: string
    remote_auth: 'password' | 'oauth2'
    folder_mapping: JsonWithDefault
    exclude_folders: JsonWithDefault
    webhook_url: string | null
    credentials: Buffer | null
    credentials_until: Timestamp | null
    total_messages: Generated<number>
    migrated_messages: Generated<number>
    failed_messages: Generated<number>
    current_folder: string | null
    speed: Generated<number>
    error: string | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    started_at: Timestamp | null
    completed_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  migration_messages: {
    folder_id: number
    source_uid: number
    target_uid: number | null
    flags: string
  }
  migration_notices: {
    id: string
    job_id: string
    envelope: Json
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  migration_pairs: {
    id: string
    organization_id: string
    name: string
  }
  oauth_clients: {
    id: string
    organization_id: string | null
    name: string
    client_type: 'confidential' | 'public'
    secret_hash: string | null
    redirect_uris: Generated<string[]>
    grant_types: string[]
    scopes: Generated<string[]>
    api_key_id: string | null
    active: Generated<boolean>
    created_by: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  oauth_items: {
    id: string
    kind: string
    id_hash: string
    grant_hash: string | null
    uid_hash: string | null
    user_code_hash: string | null
    client_id: string | null
    email_account_id: string | null
    scopes: Generated<string[]>
    payload: Buffer
    last_used_at: Timestamp | null
    last_used_service: string | null
    last_used_ip: string | null
    consumed_at: Timestamp | null
    expires_at: Timestamp
    created_at: Generated<Timestamp>
  }
  oauth_keys: {
    id: string
    private_key: Buffer
    created_at: Generated<Timestamp>
  }
  operator_audit: {
    id: GeneratedAlways<number>
    operator_id: string | null
    operator_email: string | null
    api_key_id: string | null
    caller_scope: 'platform' | 'organization' | null
    action: string
    target_type: string | null
    target_id: string | null
    organization_id: string | null
    request_body: Json | null
    result: 'success' | 'failure'
    status_code: number
    ip_address: string
    correlation_id: string | null
    created_at: Generated<Timestamp>
  }
  operators: {
    id: string
    email: string
    full_name: string
    password_hash: string
    role: 'support' | 'operator' | 'admin' | 'owner'
    is_active: Generated<boolean>
    created_by: string | null
    last_login_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  organizations: {
    id: string
    external_id: string | null
    name: string
    description: string | null
    active: Generated<boolean>
    admin_email: string | null
    admin_name: string | null
    settings: JsonWithDefault
    rate_limits: JsonWithDefault
    storage_quotas: JsonWithDefault
    webhook_urls: JsonWithDefault
    webhook_secret: Buffer | null
    sending_profile: Generated<'transactional' | 'marketing' | 'both'>
    quota_override: Generated<boolean>
    quota_override_at: Timestamp | null
    quota_override_by: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    domain_count: Generated<number>
    email_account_count: Generated<number>
    total_storage_used: Generated<number>
    storage_quota: Generated<number>
    inactive_domain_count: Generated<number>
    inactive_email_accounts: Generated<number>
    suspended_email_accounts: Generated<number>
    parent_organization_id: string | null
    plan_name: string | null
    max_users: number | null
    max_domains: number | null
    verification_token: Generated<string>
    require_two_factor: Generated<boolean>
  }
  outgoing_messages: {
    id: string
    organization_id: string
    message_id: string
    sender: string
    recipient: string
    subject: string
    content: string
    part_id: string | null
    size_bytes: number
    attempts: Generated<number>
    turn_at: Timestamp
    due_at: Timestamp
    last_reply: string | null
    failed_at: Timestamp | null
    created_at: Timestamp
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  outgoing_parts: {
    id: string
    organization_id: string
    content: Buffer
    created_at: Generated<Timestamp>
  }
  paced_mail: {
    id: string
    organization_id: string
    recipient_domain: string
    recipients: number
    envelope: string
    ip_address: string | null
    state: 'waiting' | 'releasing' | 'sending'
    reason: 'warm_up' | 'hourly' | 'daily' | null
    queue_id: string | null
    created_at: Generated<Timestamp>
    changed_at: Generated<Timestamp>
  }
  pgp_key_jobs: {
    id: string
    organization_id: string
    account_id: string
    email: string
    status: 'running' | 'completed' | 'failed'
    fingerprint: string | null
    error: string | null
    created_at: Generated<Timestamp>
    seen_at: Generated<Timestamp>
  }
  pgp_keys: {
    id: string
    organization_id: string
    account_id: string | null
    email: string
    fingerprint: string
    user_id: string
    key_type: string
    key_length: number | null
    public_key: string
    published_key: Buffer
    wkd_hash: string
    private_key: Buffer | null
    can_encrypt: boolean
    preferred: Generated<boolean>
    expires_at: Timestamp | null
    revoked: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  provisioning: {
    resource_type: 'mailbox' | 'domain'
    resource_id: string
    organization_id: string
    status: Generated<'pending' | 'failed'>
    error: string | null
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  quarantine: {
    id: string
    organization_id: string | null
    message_id: string | null
    queue_id: string | null
    sender: Generated<string>
    login: string | null
    recipient: Generated<string>
    subject: string | null
    reason: 'spam' | 'virus' | 'policy' | 'transport_rule' | 'admin'
    spam_score: number | null
    virus_name: string | null
    rule_id: string | null
    headers: JsonWithDefault
    status: Generated<'quarantined' | 'released' | 'deleted' | 'expired'>
    released_by: string | null
    released_at: Timestamp | null
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    expires_at: Timestamp
    created_at: Generated<Timestamp>
    author: string | null
  }
  quarantined_messages: {
    quarantine_id: string
    piece: number
    content: Buffer
  }
  queue_samples: {
    host: string
    queue_name: 'active' | 'deferred' | 'hold'
    minute: Timestamp
    message_count: number
    size_bytes: number
    oldest_age_seconds: number | null
  }
  rag_chunks: {
    id: GeneratedAlways<number>
    document_id: string
    organization_id: string
    ordinal: number
    text: string
    tsv: string
    vector: Buffer
    model: string
  }
  rag_collections: {
    id: string
    organization_id: string
    domain_id: string
    name: string
    description: string | null
    embedding_model: string
    created_at: Generated<Timestamp>
  }
  rag_documents: {
    id: string
    organization_id: string
    domain_id: string
    collection_id: string
    source: 'mail' | 'api'
    email_account_id: string | null
    folder_id: number | null
    uid: number | null
    external_id: string | null
    message_id: string | null
    subject: string | null
    sender: string | null
    recipients: string | null
    date: Timestamp | null
    has_attachment: Generated<boolean>
    size_bytes: number
    language: string
    content_hash: string
    content: string | null
    metadata: JsonWithDefault
    chunk_count: number
    indexed_at: Generated<Timestamp>
  }
  rag_folders: {
    id: GeneratedAlways<number>
    organization_id: string
    email_account_id: string
    name: string
    uid_validity: number
    last_uid: Generated<number>
    begun_by: string | null
  }
  rag_jobs: {
    id: string
    organization_id: string
    domain_id: string
    full_reindex: Generated<boolean>
    status: Generated<'pending' | 'running' | 'complete' | 'failed'>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    due_at: Generated<Timestamp>
    attempts: Generated<number>
    documents_indexed: Generated<number>
    chunks_created: Generated<number>
    documents_removed: Generated<number>
    error: string | null
    created_at: Generated<Timestamp>
    begun_at: Timestamp | null
    ended_at: Timestamp | null
  }
  rag_languages: {
    organization_id: string
    language: string
  }
  rag_mail_domains: {
    domain_id: string
    organization_id: string
    allowed_at: Generated<Timestamp>
  }
  rag_settings: {
    organization_id: string
    enabled: Generated<boolean>
    enabled_fields: string[]
    chunk_size: Generated<number>
    chunk_overlap: Generated<number>
    embedding_provider: 'lexical' | 'sentence_transformers' | 'huggingface' | 'ollama' | 'openai' | 'azure_openai' | null
    privacy_mode: Generated<boolean>
    auto_index: Generated<boolean>
    index_schedule: Generated<string>
    max_documents: Generated<number>
    next_run_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  rag_signatures: {
    chunk_id: number
    document_id: string
    organization_id: string
    model: string
    bits: string
  }
  rate_limit_owner: {
    id: Generated<boolean>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  rate_limit_rules: {
    organization_id: string
    entity_type: 'organization' | 'domain' | 'mailbox'
    identifier: string
    direction: 'outbound' | 'inbound'
    set_by: 'operator' | 'tenant'
    second_limit: number
    minute_limit: number
    hourly_limit: number
    daily_limit: number
    monthly_limit: number
    burst_limit: number | null
    active: Generated<boolean>
    priority: Generated<number>
    warning_threshold: number
    critical_threshold: number
    description: string
    created_by: string
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  rate_limit_usage: {
    organization_id: string
    entity_type: 'organization' | 'domain' | 'mailbox' | 'credential'
    identifier: string
    direction: 'outbound' | 'inbound'
    counts: Json
    updated_at: Timestamp
  }
  retention_policies: {
    id: string
    organization_id: string
    retention_days: Generated<number>
    legal_hold: Generated<boolean>
    auto_archive: Generated<boolean>
    archive_after_days: Generated<number>
    applies_from: Generated<Timestamp>
    previous: Json | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  retention_runs: {
    organization_id: string
    begun_at: Timestamp | null
    finished_at: Timestamp | null
    last_email: Generated<string>
    counts: JsonWithDefault
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    error_message: string | null
  }
  send_counts: {
    organization_id: string
    recipient_domain: string
    hour: Timestamp
    sent: Generated<number>
    minute: Timestamp
    sent_in_minute: Generated<number>
    throttled: Generated<boolean>
  }
  service_health: {
    name: string
    status: 'up' | 'degraded' | 'down' | 'error'
    protocol: string
    critical: boolean
    response_time: number | null
    check_duration: number
    error: string | null
    checked_at: Timestamp
    changed_at: Timestamp
  }
  service_restarts: {
    id: string
    service: string
    attempted_at: Timestamp
    automatic: boolean
    reason: string | null
    succeeded: boolean | null
    error: string | null
  }
  sessions: {
    id: string
    kind: 'dashboard' | 'operator' | 'mailbox'
    user_id: string | null
    operator_id: string | null
    email_account_id: string | null
    token_hash: string
    csrf_hash: string
    ip_address: string
    user_agent: string | null
    client_platform: string | null
    mfa_satisfied: boolean
    idle_timeout_seconds: number
    expires_at: Timestamp
    absolute_expiry: Timestamp
    revoked_at: Timestamp | null
    created_at: Generated<Timestamp>
  }
  settings: {
    name: string
    value: Buffer
  }
  shared_mailbox_members: {
    id: string
    shared_mailbox_id: string
    email_account_id: string
    permission: 'full_access' | 'send_as' | 'send_on_behalf' | 'read_only'
    granted_by: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  shared_mailbox_rights_pending: {
    email: string
    changes: Generated<number>
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    lease_owner: string | null
    lease_until: Generated<Timestamp>
    losing: Generated<string[]>
  }
  shared_mailboxes: {
    id: string
    organization_id: string
    domain_id: string
    email: string
    name: string
    status: Generated<'active' | 'inactive'>
    auto_reply_enabled: Generated<boolean>
    auto_reply_message: string | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  smime_certificates: {
    id: string
    organization_id: string
    account_id: string | null
    email: string
    fingerprint: string
    subject: string
    issuer: string
    serial: string
    key_type: string
    key_length: number
    certificate: string
    chain: Generated<string>
    private_key: Buffer | null
    can_encrypt: boolean
    can_sign: boolean
    preferred: Generated<boolean>
    not_before: Timestamp
    expires_at: Timestamp
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  smtp_credential_events: {
    id: string
    credential_id: string
    organization_id: string
    username: string
    event: 'created' | 'updated' | 'rotated' | 'revoked' | 'enabled' | 'deleted' | 'suspended'
    actor: string
    source_ip: string
    detail: string | null
    created_at: Generated<Timestamp>
  }
  smtp_credentials: {
    id: string
    organization_id: string
    domain_id: string
    username: string
    name: string | null
    prefix: string | null
    secret_hash: string
    created_by: string | null
    allowed_ips: JsonWithDefault
    ip_allowlist_enabled: Generated<boolean>
    expires_at: Timestamp | null
    hourly_limit: number | null
    daily_limit: number | null
    last_used_at: Timestamp | null
    active: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    tracking_enabled: Generated<boolean>
  }
  storage_alerts: {
    entity_type: 'mailbox' | 'domain'
    identifier: string
    organization_id: string
    told: 'none' | 'warning' | 'critical'
    warning_at: Timestamp | null
    critical_at: Timestamp | null
    updated_at: Generated<Timestamp>
  }
  storage_calculations: {
    id: GeneratedAlways<number>
    organization_id: string
    domain: string
    used_bytes: number
    quota_bytes: number | null
    total_emails: number
    calculated_at: Generated<Timestamp>
  }
  storage_history: {
    organization_id: string
    entity_type: 'organization' | 'domain' | 'mailbox'
    entity_id: string
    storage_type: string
    day: string
    used_bytes: number
  }
  storage_pending: {
    kind: 'mailbox' | 'domain'
    name: string
    changes: Generated<number>
    marked_at: Generated<Timestamp>
  }
  suppressions: {
    id: string
    email: string
    organization_id: string
    suppression_type: 'BOUNCE' | 'COMPLAINT' | 'UNSUBSCRIBE' | 'MANUAL'
    reason: string | null
    source: string | null
    bounce_type: 'HARD' | 'SOFT' | 'BLOCK' | null
    bounce_count: Generated<number>
    active: Generated<boolean>
    expires_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  template_renders: {
    template_id: string
    day: string
    count: number
  }
  template_versions: {
    id: string
    template_id: string
    version: number
    subject_template: string
    html_content: string
    compiled_html: string | null
    plaintext_content: string
    variables: JsonWithDefault
    content_hash: string
    size_bytes: number
    author: string
    created_at: Generated<Timestamp>
  }
  templates: {
    id: string
    organization_id: string
    name: string
    description: string | null
    category: Generated<'transactional' | 'marketing' | 'notification' | 'general'>
    subject_template: string
    html_content: string
    compiled_html: string | null
    plaintext_content: string
    variables: JsonWithDefault
    metadata: JsonWithDefault
    content_hash: string
    version: Generated<number>
    render_count: Generated<number>
    active: Generated<boolean>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  tls_reports: {
    id: string
    domain_id: string
    reporter: string
    report_id: string
    policy_type: 'sts' | 'tlsa' | 'no-policy-found'
    starts_at: Timestamp
    ends_at: Timestamp
    successful: number
    failed: number
    failures: JsonWithDefault
    received_at: Timestamp
  }
  totp_enrollments: {
    kind: 'operator' | 'mailbox' | 'user'
    subject_id: string
    secret: Buffer
    confirmed_at: Timestamp | null
    last_step: Generated<number>
    backup_code_hashes: JsonWithDefault
    created_at: Generated<Timestamp>
  }
  tracked_links: {
    message_id: string
    position: number
    url: string
  }
  tracked_messages: {
    id: string
    organization_id: string
    domain_id: string | null
    domain: string
    email_id: string
    created_at: Generated<Timestamp>
  }
  tracked_recipients: {
    id: string
    message_id: string
    recipient: string
    sent_at: Timestamp | null
  }
  tracking_events: {
    id: string
    organization_id: string
    domain_id: string | null
    domain: string
    tracking_id: string | null
    email_id: string | null
    recipient: string
    event_type: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed'
    automated: Generated<boolean>
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
    additional_data: Json | null
    created_at: Generated<Timestamp>
  }
  transport_rules: {
    id: string
    organization_id: string
    name: string
    description: string | null
    direction: Generated<'inbound' | 'outbound' | 'both'>
    conditions: Json
    condition_logic: Generated<'all' | 'any'>
    actions: Json
    priority: Generated<number>
    enabled: Generated<boolean>
    hit_count: Generated<number>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  url_blocklist: {
    id: string
    organization_id: string | null
    entry_type: 'url' | 'domain' | 'pattern' | 'allowlist'
    entry: string
    reason: string | null
    created_by: string | null
    created_at: Generated<Timestamp>
  }
  url_clicks: {
    id: string
    organization_id: string
    url: string
    url_domain: string
    scan_result: 'safe' | 'suspicious' | 'blocked'
    reasons: string[]
    client_network: string
    clicked_at: Timestamp
  }
  url_keys: {
    id: number
    created_at: Generated<Timestamp>
    retired_at: Timestamp | null
  }
  url_protection_settings: {
    organization_id: string
    enabled: boolean
    updated_at: Generated<Timestamp>
  }
  warmup_schedules: {
    ip_address: string
    organization_id: string | null
    target_daily_volume: number
    warmup_days: number
    started_at: Timestamp
    paused_at: Timestamp | null
    told_day: Generated<number>
  }
  warmup_sends: {
    ip_address: string
    day: string
    sent: Generated<number>
  }
  webhook_channel_messages: {
    fingerprint: string
    occurrence: number
    received_at: Generated<Timestamp>
  }
  webhook_cleanup: {
    only_row: Generated<boolean>
    settings: JsonWithDefault
    begun_at: Timestamp | null
    finished_at: Timestamp | null
    deleted_deliveries: Generated<number>
    deleted_events: Generated<number>
  }
  webhook_daemon_heartbeats: {
    daemon_id: string
    expires_at: Timestamp
  }
  webhook_dead_letters: {
    id: GeneratedAlways<number>
    event_id: string
    organization_id: string | null
    event_type: string
    endpoint_url: string
    last_error: string
    attempt_count: number
    status: Generated<'pending' | 'retrying' | 'resolved' | 'abandoned'>
    payload: Json
    created_at: Generated<Timestamp>
    last_attempted_at: Timestamp | null
    resolved_at: Timestamp | null
    endpoint_id: string | null
  }
  webhook_deliveries: {
    id: string
    event_id: string
    event_type: string
    endpoint_id: string | null
    webhook_url: string
    organization_id: string | null
    message_id: string | null
    delivery_status: 'pending' | 'delivered' | 'failed' | 'retrying' | 'abandoned'
    http_status_code: number
    attempts: number
    error_message: string | null
    created_at: Timestamp
    delivered_at: Timestamp | null
  }
  webhook_endpoints: {
    id: string
    organization_id: string | null
    url: string
    name: Generated<string>
    description: Generated<string>
    active: Generated<boolean>
    event_types: Json | null
    secret: Buffer
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    previous_secret: Buffer | null
    previous_secret_until: Timestamp | null
  }
  webhook_lanes: {
    lane: number
    lease_owner: string | null
    lease_until: Generated<Timestamp>
  }
  webhook_queue: {
    id: GeneratedAlways<number>
    event_id: string
    lane: number
    attempts: Generated<number>
    due_at: Generated<Timestamp>
    last_error: string | null
    endpoint_id: string | null
    subject: number | null
    event_created_at: Generated<Timestamp>
  }
  whitelabel_configs: {
    organization_id: string
    fields: JsonWithDefault
    custom_domain: string | null
    domain_verified_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
}
