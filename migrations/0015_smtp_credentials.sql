create table smtp_credentials (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade,
  username text not null check (length(username) <= 255),
  name text check (length(name) <= 255),
  prefix text,
  secret_hash text not null,
  created_by text check (length(created_by) <= 255),
  allowed_ips jsonb not null default '[]',
  ip_allowlist_enabled boolean not null default false,
  expires_at timestamptz,
  hourly_limit integer check (hourly_limit >= 1),
  daily_limit integer check (daily_limit >= 1),
  last_used_at timestamptz,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column smtp_credentials.secret_hash is 'bcrypt';
comment on column smtp_credentials.last_used_at is 'written by the log ingestor alone';

create unique index smtp_credentials_username on smtp_credentials (username);
create index smtp_credentials_of_organization on smtp_credentials (organization_id, created_at, id);
create index smtp_credentials_of_domain on smtp_credentials (domain_id, created_at, id);
create index smtp_credentials_by_created_at on smtp_credentials (created_at, id);

create trigger smtp_credentials_register
  after insert or delete on smtp_credentials
  for each row execute function register_address('smtp_credential', 'username');

-- No foreign keys: the trail outlives the credential and the organization.
create table smtp_credential_events (
  id text primary key,
  credential_id text not null,
  organization_id text not null,
  username text not null,
  event text not null check (
    event in ('created', 'updated', 'rotated', 'revoked', 'enabled', 'deleted', 'suspended')
  ),
  actor text not null,
  source_ip text not null,
  detail text,
  created_at timestamptz not null default now()
);

create index smtp_credential_events_of_credential on smtp_credential_events (credential_id, created_at, id);

create trigger smtp_credential_events_append_only
  before update or delete on smtp_credential_events
  for each row execute function refuse_change();
create trigger smtp_credential_events_no_truncate
  before truncate on smtp_credential_events
  for each statement execute function refuse_change();
