-- Links of incoming mail lead over this service, which checks them when they are clicked.

-- Organizations without a row have protection off.
create table url_protection_settings (
  organization_id text primary key references organizations on delete cascade,
  enabled boolean not null,
  updated_at timestamptz not null default now()
);

-- The keys that sign links, derived from the root key by their number. The newest signs; a retired key
-- verifies for a year, then its links end.
create table url_keys (
  id smallint primary key check (id > 0),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

insert into url_keys (id) values (1);

-- Without an organization an entry applies to all of them.
create table url_blocklist (
  id text primary key,
  organization_id text references organizations on delete cascade,
  entry_type text not null check (entry_type in ('url', 'domain', 'pattern', 'allowlist')),
  entry text not null check (length(entry) between 1 and 2048),
  reason text check (length(reason) <= 255),
  created_by text,
  created_at timestamptz not null default now()
);

create unique index url_blocklist_entry
  on url_blocklist (organization_id, entry_type, md5(entry)) nulls not distinct;
create index url_blocklist_in_order on url_blocklist (organization_id, created_at, id);

create table url_clicks (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  url text not null,
  url_domain text not null,
  scan_result text not null check (scan_result in ('safe', 'suspicious', 'blocked')),
  reasons text[] not null,
  client_network text not null,
  clicked_at timestamptz not null
);

create index url_clicks_in_order on url_clicks (organization_id, clicked_at, id);
create index url_clicks_clicked_at on url_clicks (clicked_at);

-- Processes keep settings, keys, lists and the names of hosted domains in memory.
create function notify_url_protection() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_url_protection', tg_argv[0]);
  return null;
end $$;

create function notify_url_list() returns trigger language plpgsql as $$
begin
  perform pg_notify(
    'mailplane_url_protection',
    'list:' || coalesce(new.organization_id, old.organization_id, '')
  );
  return null;
end $$;

create trigger url_protection_settings_notify
  after insert or update or delete on url_protection_settings
  for each row execute function notify_organization('mailplane_url_settings');
create trigger url_keys_notify
  after insert or update or delete on url_keys
  for each statement execute function notify_url_protection('keys');
create trigger url_blocklist_notify
  after insert or update or delete on url_blocklist
  for each row execute function notify_url_list();
create trigger domains_notify_url_protection
  after insert or delete or update of domain, active, ownership_verified_at on domains
  for each statement execute function notify_url_protection('domains');
