create table organizations (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,26}$'),
  external_id text unique check (length(external_id) <= 255),
  name text not null check (length(name) between 1 and 255),
  description text,
  active boolean not null default true,
  admin_email text,
  admin_name text,
  settings jsonb not null default '{}',
  rate_limits jsonb not null default '{}',
  storage_quotas jsonb not null default '{}',
  webhook_urls jsonb not null default '[]',
  webhook_secret bytea,
  sending_profile text not null default 'transactional'
    check (sending_profile in ('transactional', 'marketing', 'both')),
  quota_override boolean not null default false,
  quota_override_at timestamptz,
  quota_override_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column organizations.webhook_secret is 'sealed; never leaves the database in clear';

-- Processes keep callers in memory. A change that matters to access is told to all of them, also
-- when somebody makes it by hand. The payload names the row: "key:<id>".
create function tell_access() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', tg_argv[0] || ':' || old.id);
  return null;
end $$;

create trigger organizations_tell_access
  after update of active, name or delete on organizations
  for each row execute function tell_access('organization');
