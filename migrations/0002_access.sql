create table api_keys (
  id text primary key,
  key_id text not null unique,
  key_hash text not null unique,
  name text not null,
  permissions jsonb not null default '{}',
  scopes text[] check (cardinality(scopes) > 0),
  created_by text,
  organization_id text references organizations on delete cascade,
  scope text not null default 'organization' check (scope in ('organization', 'platform')),
  active boolean not null default true,
  expires_at timestamptz,
  last_used timestamptz,
  created_at timestamptz not null default now(),
  check (scope = 'platform' or organization_id is not null)
);

comment on column api_keys.scopes is 'null: the permissions apply to the whole API';

create index api_keys_organization_id on api_keys (organization_id);
create index api_keys_newest on api_keys (created_at, id);

create trigger api_keys_notify_access
  after update of key_hash, permissions, scopes, organization_id, scope, active, expires_at or delete
  on api_keys
  for each row execute function notify_access('subject');

-- A user without a password has not accepted the invitation yet.
create table dashboard_users (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  email text not null check (email = lower(email)),
  full_name text check (length(full_name) between 1 and 255),
  password_hash text,
  role text not null default 'admin' check (role in ('owner', 'admin', 'read_only')),
  is_active boolean not null default true,
  last_login_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index dashboard_users_of_organization on dashboard_users (organization_id, email);
-- An address signs in to one organization. An invitation reserves no address: otherwise a tenant could
-- keep the people of another one out.
create unique index dashboard_users_email on dashboard_users (email) where password_hash is not null;

create trigger dashboard_users_notify_access
  after update of is_active, organization_id, role, email or delete on dashboard_users
  for each row execute function notify_access('subject');

create table operators (
  id text primary key,
  email text not null check (email = lower(email)),
  full_name text not null check (length(full_name) between 1 and 255),
  password_hash text not null,
  role text not null check (role in ('support', 'operator', 'admin', 'owner')),
  is_active boolean not null default true,
  created_by text references operators,
  last_login_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The address of a deactivated operator can be used again.
create unique index operators_email on operators (email) where is_active;
create index operators_created_by on operators (created_by);

create trigger operators_notify_access
  after update of role, is_active, email or delete on operators
  for each row execute function notify_access('subject');

-- Logins of dashboard users, operators and mailbox holders. A row belongs to exactly one of them.
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

-- Not on expires_at, because every request of a session moves it.
create trigger sessions_notify_access
  after update of revoked_at, token_hash, csrf_hash, mfa_satisfied, absolute_expiry or delete
  on sessions
  for each row execute function notify_access('session');

-- Second factors. The kind is part of the key: an e-mail address can be an operator and a mailbox holder.
create table totp_enrollments (
  kind text not null check (kind in ('operator', 'mailbox', 'user')),
  subject_id text not null,
  secret bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  backup_code_hashes jsonb not null default '[]',
  created_at timestamptz not null default now(),
  primary key (kind, subject_id)
);

comment on column totp_enrollments.secret is 'sealed';
comment on column totp_enrollments.last_step is 'time step of the last used code; a code works once';

-- The cached logins of the mailbox end when its second factor is turned on or off.
create function notify_mailbox_factor() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform notify_mailbox_logins(changed.subject_id);
  return null;
end $$;

create function notify_mailbox_logins(p_account_id text) returns void language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'subject:' || p_account_id);
  perform pg_notify('mailplane_edge', 'login:' || email)
  from email_accounts where id = p_account_id;
end $$;

create trigger totp_enrollments_notify_change
  after update of confirmed_at on totp_enrollments
  for each row when (new.kind = 'mailbox' and old.confirmed_at is distinct from new.confirmed_at)
  execute function notify_mailbox_factor();
create trigger totp_enrollments_notify_end
  after delete on totp_enrollments
  for each row when (old.kind = 'mailbox') execute function notify_mailbox_factor();

-- Passwords of single mail programs, for mailboxes with a second factor and for programs without OAuth.
-- They are random, so a fast hash is enough.
create table app_passwords (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  email_account_id text not null references email_accounts on delete cascade,
  name text not null check (length(name) between 1 and 100),
  scopes text[] not null check (
    cardinality(scopes) > 0 and scopes <@ array['imap', 'smtp', 'sieve', 'dav', 'jmap']),
  password_hash text not null unique,
  last_used_at timestamptz,
  last_used_service text,
  last_used_ip text,
  created_at timestamptz not null default now()
);

create index app_passwords_of_account on app_passwords (email_account_id, created_at, id);
create index app_passwords_organization_id on app_passwords (organization_id);

create function notify_app_password() returns trigger language plpgsql as $$
begin
  perform notify_mailbox_logins(old.email_account_id);
  return null;
end $$;

create trigger app_passwords_notify
  after update of scopes, password_hash or delete on app_passwords
  for each row execute function notify_app_password();

-- Programs that sign in through the browser or with a secret of their own. Clients of the host have no
-- organization and may be used by every mailbox; a client of an organization by its mailboxes only. A client
-- with an API key acts for itself, with the rights of that key.
create table oauth_clients (
  id text primary key,
  organization_id text references organizations on delete cascade,
  name text not null check (length(name) between 1 and 100),
  client_type text not null check (client_type in ('confidential', 'public')),
  secret_hash text,
  redirect_uris text[] not null default '{}',
  grant_types text[] not null,
  scopes text[] not null default '{}',
  api_key_id text references api_keys on delete cascade,
  active boolean not null default true,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((client_type = 'public') = (secret_hash is null))
);

create index oauth_clients_organization_id on oauth_clients (organization_id);
create index oauth_clients_api_key_id on oauth_clients (api_key_id);
create index oauth_clients_newest on oauth_clients (created_at, id);

-- Codes, tokens, grants and sign-ins of the OAuth service. The value that a program holds is here as a hash
-- only, and the payload is sealed, so a copy of the database contains no usable token.
create table oauth_items (
  id text primary key,
  kind text not null,
  id_hash text not null,
  grant_hash text,
  uid_hash text,
  user_code_hash text,
  client_id text references oauth_clients on delete cascade,
  email_account_id text references email_accounts on delete cascade,
  scopes text[] not null default '{}',
  payload bytea not null,
  last_used_at timestamptz,
  last_used_service text,
  last_used_ip text,
  consumed_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  unique (kind, id_hash)
);

comment on column oauth_items.payload is 'sealed';

create index oauth_items_of_grant on oauth_items (grant_hash);
create index oauth_items_of_account on oauth_items (email_account_id, kind, created_at, id);
create index oauth_items_of_client on oauth_items (client_id);
create index oauth_items_expires_at on oauth_items (expires_at);
create unique index oauth_items_uid on oauth_items (kind, uid_hash) where uid_hash is not null;
create unique index oauth_items_user_code on oauth_items (kind, user_code_hash)
  where user_code_hash is not null;

-- A token that ends before its time is forgotten by the caches of logins.
create function notify_token() returns trigger language plpgsql as $$
begin
  if old.expires_at <= now() then
    return null;
  end if;
  if old.kind = 'AccessToken' then
    perform notify_mailbox_logins(old.email_account_id);
  else
    perform pg_notify('mailplane_access', 'subject:' || c.api_key_id)
    from oauth_clients c where c.id = old.client_id and c.api_key_id is not null;
  end if;
  return null;
end $$;

create trigger oauth_items_notify
  after delete on oauth_items
  for each row when (old.kind in ('AccessToken', 'ClientCredentials'))
  execute function notify_token();

-- The tokens of a client that is deleted or switched off end with it.
create function end_client_access() returns trigger language plpgsql as $$
begin
  delete from oauth_items where client_id = old.id;
  if old.api_key_id is not null then
    perform pg_notify('mailplane_access', 'subject:' || old.api_key_id);
  end if;
  return coalesce(new, old);
end $$;

create trigger oauth_clients_end_access
  before delete on oauth_clients
  for each row execute function end_client_access();
create trigger oauth_clients_end_access_inactive
  before update of active, scopes on oauth_clients
  for each row when ((old.active, old.scopes) is distinct from (new.active, new.scopes))
  execute function end_client_access();

-- Keys that sign identity tokens.
create table oauth_keys (
  id text primary key,
  private_key bytea not null,
  created_at timestamptz not null default now()
);

comment on column oauth_keys.private_key is 'sealed';

-- A new password is often the answer to a stolen one, so it ends every other way in.
create function end_mailbox_access() returns trigger language plpgsql as $$
begin
  delete from app_passwords where email_account_id = new.id;
  delete from oauth_items where email_account_id = new.id;
  perform pg_notify('mailplane_access', 'subject:' || new.id);
  return null;
end $$;

create trigger email_accounts_end_access
  after update of password_hash on email_accounts
  for each row when (old.password_hash is distinct from new.password_hash)
  execute function end_mailbox_access();

-- Links that let a person set a password: an invitation or a reset. One at a time per person.
create table account_links (
  id text primary key,
  kind text not null check (kind in ('invitation', 'password_reset')),
  user_id text unique references dashboard_users on delete cascade,
  operator_id text unique references operators on delete cascade,
  token_hash text not null unique,
  sealed_token bytea,
  mail_status text not null check (mail_status in ('pending', 'sent', 'failed', 'none')),
  mail_error text,
  mail_attempts integer not null default 0,
  mail_due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  check ((user_id is null) <> (operator_id is null))
);

comment on column account_links.sealed_token is 'sealed; kept only until the mail is sent';

create index account_links_due on account_links (mail_due_at) where mail_status = 'pending';
create index account_links_expires_at on account_links (expires_at);

create trigger account_links_notify_chore
  after insert on account_links
  for each row execute function notify_chore('account-links');

create table bootstrap_tokens (
  token_hash text primary key,
  kind text not null check (kind in ('organization', 'operator')),
  created_at timestamptz not null default now()
);

-- One row per run of failures in a window. A failed login writes two rows: one for the IP address (username
-- null) and one for the account (client_ip empty). client_ip is an IPv4 address or the /64 of an IPv6 address.
create table failed_auth_attempts (
  id text primary key,
  client_ip text not null,
  username text,
  service text not null,
  failure_reason text,
  attempt_count integer not null default 1,
  first_attempt_at timestamptz not null,
  last_attempt_at timestamptz not null,
  blocked_until timestamptz,
  recent_failures timestamptz[] not null default '{}',
  counterparts text[] not null default '{}'
);

comment on column failed_auth_attempts.counterparts is
  'hashes of the accounts tried from the IP address, or of the IP addresses that tried the account; at most 1000';
comment on column failed_auth_attempts.recent_failures is 'the failures that the throttle counts';

create index failed_auth_attempts_client_ip
  on failed_auth_attempts (client_ip, service, last_attempt_at);
create index failed_auth_attempts_username
  on failed_auth_attempts (username, service, last_attempt_at);
-- Mail logins are counted by IP address and login together; a run of failures updates its row.
create index failed_auth_attempts_of_login
  on failed_auth_attempts (client_ip, username, service, last_attempt_at)
  where username is not null and client_ip <> '';
-- The orders of the console's list.
create index failed_auth_attempts_newest on failed_auth_attempts (last_attempt_at, id);
create index failed_auth_attempts_most on failed_auth_attempts (attempt_count, id);
create index failed_auth_attempts_oldest on failed_auth_attempts (first_attempt_at, id);

create function counterpart_hash(p_name text) returns text
  language sql immutable strict parallel safe
  return left(encode(sha256(convert_to(p_name, 'UTF8')), 'hex'), 16);

create function notify_block() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'block:' || coalesce(new.client_ip, old.client_ip));
  return null;
end $$;

-- The mail servers' limit of an account over all IP addresses; other throttles are read from the table.
create function notify_account_block() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access',
    'account-block:' || coalesce(new.username, old.username, ''));
  return null;
end $$;

create trigger failed_auth_attempts_notify_account_block
  after update of blocked_until on failed_auth_attempts
  for each row when (new.service = 'mail_account' and new.blocked_until is distinct from old.blocked_until)
  execute function notify_account_block();
create trigger failed_auth_attempts_notify_new_account_block
  after insert on failed_auth_attempts
  for each row when (new.service = 'mail_account')
  execute function notify_account_block();
create trigger failed_auth_attempts_notify_lifted_account_block
  after delete on failed_auth_attempts
  for each row when (old.service = 'mail_account' and old.blocked_until is not null)
  execute function notify_account_block();

create trigger failed_auth_attempts_notify_block
  after update of blocked_until on failed_auth_attempts
  for each row when (new.client_ip <> '' and new.blocked_until is distinct from old.blocked_until)
  execute function notify_block();
create trigger failed_auth_attempts_notify_new_block
  after insert on failed_auth_attempts
  for each row when (new.client_ip <> '' and new.blocked_until is not null)
  execute function notify_block();
create trigger failed_auth_attempts_notify_lifted_block
  after delete on failed_auth_attempts
  for each row when (old.client_ip <> '' and old.blocked_until is not null)
  execute function notify_block();

create table idempotency_keys (
  caller text not null,
  method text not null,
  path text not null,
  key text not null,
  request_hash text not null,
  -- running: claimed; committed: the change is stored, the response is not; completed: can be replayed
  state text not null check (state in ('running', 'committed', 'completed')),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  response_status integer,
  response bytea,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (caller, method, path, key)
);

comment on column idempotency_keys.response is 'sealed: it may contain a secret that is shown once';

create index idempotency_keys_expires_at on idempotency_keys (expires_at);

create table operator_audit (
  id bigint generated always as identity primary key,
  operator_id text,
  operator_email text,
  api_key_id text,
  caller_scope text check (caller_scope in ('platform', 'organization')),
  action text not null,
  target_type text,
  target_id text,
  organization_id text,
  request_body jsonb,
  result text not null check (result in ('success', 'failure')),
  status_code integer not null,
  ip_address text not null,
  correlation_id text,
  created_at timestamptz not null default now()
);

create index operator_audit_created_at on operator_audit (created_at);
create index operator_audit_action on operator_audit (action, id);
create index operator_audit_target on operator_audit (target_type, target_id, id);
create index operator_audit_correlation_id on operator_audit (correlation_id);
-- The overview counts denied requests every few seconds.
create index operator_audit_denied on operator_audit (created_at) where status_code in (401, 403);
create index operator_audit_operator_id on operator_audit (operator_id, id)
  where operator_id is not null;
create index operator_audit_operator_email on operator_audit (operator_email, id)
  where operator_email is not null;
create index operator_audit_organization_id on operator_audit (organization_id, id)
  where organization_id is not null;

-- What GET /api/v1/activity/ lists: changes by operators and platform keys, not their reads
-- and nothing confidential.
create index operator_audit_activity on operator_audit (organization_id, created_at, id)
  where organization_id is not null and caller_scope = 'platform' and result = 'success'
    and status_code <> 202
    and action !~ '^(check|get|list|metrics|platform|preview|show|tail|trace)_|_(check|dns|facets|me|status|summary)$|consent|data_export|erasure|kept_mail|legal_hold';

create trigger operator_audit_append_only
  before update or delete on operator_audit
  for each row execute function refuse_change();
create trigger operator_audit_no_truncate
  before truncate on operator_audit
  for each statement execute function refuse_change();

-- Facts about the installation itself.
create table settings (
  name text primary key,
  value bytea not null
);

-- When each job last began, so that one of several processes runs it.
create table job_runs (
  name text primary key,
  begun_at timestamptz not null
);
