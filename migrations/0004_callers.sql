create table api_keys (
  id text primary key,
  key_id text not null unique,
  key_hash text not null unique,
  name text not null,
  permissions jsonb not null default '{}',
  organization_id text references organizations on delete cascade,
  scope text not null default 'organization' check (scope in ('organization', 'platform')),
  active boolean not null default true,
  expires_at timestamptz,
  last_used timestamptz,
  created_at timestamptz not null default now(),
  check (scope = 'platform' or organization_id is not null)
);

create index api_keys_organization_id on api_keys (organization_id);

create trigger api_keys_tell_access
  after update of key_hash, permissions, organization_id, scope, active, expires_at or delete
  on api_keys
  for each row execute function tell_access('subject');

create table dashboard_users (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  role text not null default 'admin' check (role in ('admin')),
  is_active boolean not null default true,
  last_login_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index dashboard_users_organization_id on dashboard_users (organization_id);

create trigger dashboard_users_tell_access
  after update of is_active, organization_id, role, email or delete on dashboard_users
  for each row execute function tell_access('subject');

create table operators (
  id text primary key,
  email text not null unique check (email = lower(email)),
  full_name text not null check (length(full_name) between 1 and 255),
  password_hash text not null,
  role text not null check (role in ('support', 'operator', 'admin', 'owner')),
  is_active boolean not null default true,
  created_by text references operators,
  last_login_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index operators_created_by on operators (created_by);

create trigger operators_tell_access
  after update of role, is_active, email or delete on operators
  for each row execute function tell_access('subject');

-- Logins of all three kinds of people. A row belongs to exactly one of them.
create table sessions (
  id text primary key,
  kind text not null check (kind in ('dashboard', 'operator', 'mailbox')),
  user_id text references dashboard_users on delete cascade,
  operator_id text references operators on delete cascade,
  email_account_id text references email_accounts on delete cascade,
  token_hash text not null unique,
  csrf_hash text not null,
  ip_address text not null,
  user_agent text,
  client_platform text,
  mfa_satisfied boolean not null,
  idle_timeout_seconds integer not null,
  expires_at timestamptz not null,
  absolute_expiry timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  check (
    (kind = 'dashboard') = (user_id is not null)
    and (kind = 'operator') = (operator_id is not null)
    and (kind = 'mailbox') = (email_account_id is not null)
  )
);

create index sessions_user_id on sessions (user_id);
create index sessions_operator_id on sessions (operator_id);
create index sessions_email_account_id on sessions (email_account_id);
create index sessions_absolute_expiry on sessions (absolute_expiry);

-- Not on expires_at: every request of a session moves that.
create trigger sessions_tell_access
  after update of revoked_at, token_hash, csrf_hash, mfa_satisfied, absolute_expiry or delete
  on sessions
  for each row execute function tell_access('session');

-- Second factors. Operators and mailbox holders are kept apart: the same address may be both.
create table totp_enrollments (
  kind text not null check (kind in ('operator', 'mailbox')),
  subject_id text not null,
  secret bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  backup_code_hashes jsonb not null default '[]',
  created_at timestamptz not null default now(),
  primary key (kind, subject_id)
);

comment on column totp_enrollments.secret is 'sealed';
comment on column totp_enrollments.last_step is 'time step of the last code used; a code works once';

create table bootstrap_tokens (
  token_hash text primary key,
  kind text not null check (kind in ('organization', 'operator')),
  created_at timestamptz not null default now()
);
