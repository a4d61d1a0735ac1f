-- Sending and receiving limits. What is not stored has the defaults of the configuration.
create table rate_limit_rules (
  organization_id text not null references organizations on delete cascade,
  entity_type text not null check (entity_type in ('organization', 'domain', 'mailbox')),
  identifier text not null,
  direction text not null check (direction in ('outbound', 'inbound')),
  second_limit integer not null check (second_limit >= 0),
  minute_limit integer not null check (minute_limit >= 0),
  hourly_limit integer not null check (hourly_limit >= 0),
  daily_limit integer not null check (daily_limit >= 0),
  monthly_limit integer not null check (monthly_limit >= 0),
  burst_limit integer check (burst_limit >= 0),
  active boolean not null default true,
  priority integer not null default 1,
  warning_threshold integer not null,
  critical_threshold integer not null,
  description text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (entity_type, identifier, direction),
  check (1 <= warning_threshold and warning_threshold < critical_threshold and critical_threshold <= 100)
);

comment on column rate_limit_rules.burst_limit is 'null: nobody has set one, and none is enforced';

create index rate_limit_rules_organization_id on rate_limit_rules (organization_id);

-- A name that is given back takes its rule along: its next owner starts without one.
create function forget_rate_limit_rules() returns trigger language plpgsql as $$
begin
  delete from rate_limit_rules
  where entity_type = tg_argv[0] and identifier = to_jsonb(old) ->> tg_argv[1];
  return null;
end $$;

create trigger domains_forget_rate_limit_rules
  after delete on domains
  for each row execute function forget_rate_limit_rules('domain', 'domain');
create trigger email_accounts_forget_rate_limit_rules
  after delete on email_accounts
  for each row execute function forget_rate_limit_rules('mailbox', 'email');

-- What was counted, as of the last second. Written in batches by the process that counts; no
-- foreign key, so that one deleted organization does not hold up the counts of all others.
create table rate_limit_usage (
  organization_id text not null,
  entity_type text not null
    check (entity_type in ('organization', 'domain', 'mailbox', 'credential')),
  identifier text not null,
  direction text not null check (direction in ('outbound', 'inbound')),
  counts jsonb not null,
  updated_at timestamptz not null,
  primary key (organization_id, entity_type, identifier, direction)
);

create index rate_limit_usage_updated_at on rate_limit_usage (updated_at);

-- Without Redis one process counts. It says so here, again and again while it lives.
create table rate_limit_owner (
  id boolean primary key default true check (id),
  holder text not null,
  expires_at timestamptz not null
);

-- Processes that decide about mail keep senders and their rules in memory. What changes them is
-- told to all: "login:<name>" or "organization:<id>".
create function tell_senders() returns trigger language plpgsql as $$
begin
  perform pg_notify(
    'mailplane_senders',
    tg_argv[0] || ':' || (to_jsonb(coalesce(new, old)) ->> tg_argv[1])
  );
  return null;
end $$;

create trigger rate_limit_rules_tell_senders
  after insert or update or delete on rate_limit_rules
  for each row execute function tell_senders('organization', 'organization_id');
create trigger smtp_credentials_tell_senders
  after update of active, expires_at, hourly_limit, daily_limit, allowed_ips, ip_allowlist_enabled
    or delete
  on smtp_credentials
  for each row execute function tell_senders('login', 'username');
create trigger email_accounts_tell_senders
  after update of status or delete on email_accounts
  for each row execute function tell_senders('login', 'email');
create trigger domains_tell_senders
  after update of active or delete on domains
  for each row execute function tell_senders('organization', 'organization_id');
create trigger organizations_tell_senders
  after update of active or delete on organizations
  for each row execute function tell_senders('organization', 'id');
