create table email_accounts (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains,
  email text not null unique check (email = lower(email) and length(email) <= 254),
  external_id text unique check (length(external_id) <= 255),
  name text,
  password_hash text not null,
  status text not null default 'active' check (status in ('active', 'inactive', 'suspended')),
  storage_quota bigint not null default 1073741824 check (storage_quota >= 0),
  storage_used bigint not null default 0,
  must_change_password boolean not null default false,
  password_change_reason text,
  password_changed_at timestamptz,
  last_login timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index email_accounts_organization_id on email_accounts (organization_id);
create index email_accounts_domain_id on email_accounts (domain_id);

create trigger email_accounts_tell_access
  after update of status or delete on email_accounts
  for each row execute function tell_access('subject');
