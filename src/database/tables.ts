// Written by `npm run db:types` from the migrated database; do not edit.
import type { Generated, GeneratedAlways } from 'kysely'

/** Parsed JSON both ways; text would be stored as a JSON string. */
export type Json = object
export type JsonWithDefault = Generated<object>
/** ISO 8601 text, in UTC. */
export type Timestamp = string

export interface Tables {
  api_keys: {
    id: string
    key_id: string
    key_hash: string
    name: string
    permissions: JsonWithDefault
    organization_id: string | null
    scope: Generated<'organization' | 'platform'>
    active: Generated<boolean>
    expires_at: Timestamp | null
    last_used: Timestamp | null
    created_at: Generated<Timestamp>
  }
  bootstrap_tokens: {
    token_hash: string
    kind: 'organization' | 'operator'
    created_at: Generated<Timestamp>
  }
  dashboard_users: {
    id: string
    organization_id: string
    email: string
    password_hash: string
    role: Generated<'admin'>
    is_active: Generated<boolean>
    last_login_at: Timestamp | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
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
  }
  events: {
    sequence: GeneratedAlways<number>
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
  }
  idempotency_keys: {
    caller: string
    method: string
    path: string
    key: string
    request_hash: string
    state: 'running' | 'committed' | 'completed'
    claim: string
    alive_at: Generated<Timestamp>
    response_status: number | null
    response: Buffer | null
    created_at: Generated<Timestamp>
    expires_at: Timestamp
  }
  job_runs: {
    name: string
    begun_at: Timestamp
  }
  operator_audit: {
    id: GeneratedAlways<number>
    operator_id: string | null
    operator_email: string | null
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
  totp_enrollments: {
    kind: 'operator' | 'mailbox'
    subject_id: string
    secret: Buffer
    confirmed_at: Timestamp | null
    last_step: Generated<number>
    backup_code_hashes: JsonWithDefault
    created_at: Generated<Timestamp>
  }
}
