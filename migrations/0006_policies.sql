-- Sending and receiving limits. Without a row the defaults of the configuration apply.
create table rate_limit_rules (
  organization_id text not null references organizations on delete cascade,
  entity_type text not null check (entity_type in ('organization', 'domain', 'mailbox')),
  identifier text not null,
  direction text not null check (direction in ('outbound', 'inbound')),
  set_by text not null check (set_by in ('operator', 'tenant')),
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
  primary key (organization_id, entity_type, identifier, direction, set_by),
  check (1 <= warning_threshold and warning_threshold < critical_threshold and critical_threshold <= 100)
);

comment on column rate_limit_rules.set_by is
  'a tenant sets limits below those of the operator; 0 in its rule leaves the limit of the operator';
comment on column rate_limit_rules.burst_limit is 'null: not set and not enforced';

-- The next owner of a name starts without its rules.
create function forget_rate_limit_rules() returns trigger language plpgsql as $$
begin
  delete from rate_limit_rules
  where organization_id = old.organization_id
    and entity_type = tg_argv[0] and identifier = to_jsonb(old) ->> tg_argv[1];
  return null;
end $$;

create trigger domains_forget_rate_limit_rules
  after delete on domains
  for each row execute function forget_rate_limit_rules('domain', 'domain');
create trigger email_accounts_forget_rate_limit_rules
  after delete on email_accounts
  for each row execute function forget_rate_limit_rules('mailbox', 'email');

-- Counters, at most one second old. The counting process writes them in batches; there is no foreign key,
-- so that a deleted organization does not fail the batch of all others.
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

-- Without Redis one process counts: the one that holds the lease.
create table rate_limit_owner (
  id boolean primary key default true check (id),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

-- Processes that decide about mail cache senders and their rules. Payload of an eviction: "login:<name>" or
-- "organization:<id>".
create function notify_senders() returns trigger language plpgsql as $$
begin
  perform pg_notify(
    'mailplane_senders',
    tg_argv[0] || ':' || (to_jsonb(coalesce(new, old)) ->> tg_argv[1])
  );
  return null;
end $$;

create trigger rate_limit_rules_notify_senders
  after insert or update or delete on rate_limit_rules
  for each row execute function notify_senders('organization', 'organization_id');
create trigger smtp_credentials_notify_senders
  after update of active, expires_at, hourly_limit, daily_limit, allowed_ips, ip_allowlist_enabled
    or delete
  on smtp_credentials
  for each row execute function notify_senders('login', 'username');
create trigger email_accounts_notify_senders
  after update of status or delete on email_accounts
  for each row execute function notify_senders('login', 'email');
create trigger domains_notify_senders
  after update of active, ownership_verified_at or delete on domains
  for each row execute function notify_senders('organization', 'organization_id');
create trigger organizations_notify_senders
  after update of active or delete on organizations
  for each row execute function notify_senders('organization', 'id');

-- IP addresses from which a tenant may send mail, open mailboxes and use the API. An active whitelist rule
-- denies all others.
create table ip_access_rules (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  rule_type text not null check (rule_type in ('whitelist', 'blacklist')),
  ip_address text not null,
  applies_to text[] not null default '{smtp,mailbox,api}'
    check (applies_to <@ '{smtp,mailbox,api}' and cardinality(applies_to) > 0),
  description text check (length(description) <= 255),
  active boolean not null default true,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, rule_type, ip_address)
);

comment on column ip_access_rules.ip_address is 'an IP address or a network, in canonical form';
comment on column ip_access_rules.created_by is 'e-mail address of the operator';

create index ip_access_rules_newest on ip_access_rules (created_at, id);

-- Callers and senders are cached together with the rules of their organization.
create function notify_address_rules() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'organization:' || coalesce(new.organization_id, old.organization_id));
  return null;
end $$;

create trigger ip_access_rules_notify_access
  after insert or update or delete on ip_access_rules
  for each row execute function notify_address_rules();
create trigger ip_access_rules_notify_senders
  after insert or update or delete on ip_access_rules
  for each row execute function notify_senders('organization', 'organization_id');

-- Countries and times from which logins are allowed. Without a row everything is allowed.
create table geo_policies (
  id text primary key,
  organization_id text not null unique references organizations on delete cascade,
  allowed_countries text[] not null default '{}',
  blocked_countries text[] not null default '{}',
  time_restrictions jsonb,
  action text not null default 'block' check (action in ('block', 'challenge', 'log_only')),
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index geo_policies_newest on geo_policies (created_at, id);

-- E-mail addresses that an organization no longer sends to. An address is suppressed while one of its rows
-- is active and not expired.
create table suppressions (
  id text primary key,
  email text not null check (email = lower(email) and length(email) <= 255),
  organization_id text not null references organizations on delete cascade,
  suppression_type text not null
    check (suppression_type in ('BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL')),
  reason text,
  source text check (length(source) <= 100),
  bounce_type text check (bounce_type in ('HARD', 'SOFT', 'BLOCK')),
  bounce_count integer not null default 1,
  active boolean not null default true,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index suppressions_email on suppressions (email, organization_id, suppression_type);
create index suppressions_of_organization on suppressions (organization_id, created_at, id);
create index suppressions_by_created_at on suppressions (created_at, id);
create index suppressions_by_email on suppressions (email, id);
create index suppressions_search on suppressions using gin (email gin_trgm_ops);

-- Processes that decide about mail cache suppressions and blocked senders. Payload of an eviction:
-- "<kind> <organization> <address>", or without the address after a bulk change.
create function notify_refusals() returns trigger language plpgsql as $$
declare
  many boolean := (select count(*) > 100 from changed);
begin
  perform pg_notify(
    'mailplane_refusals',
    tg_argv[0] || ' ' || organization_id || case when many then '' else ' ' || address end
  )
  from (
    select distinct c.organization_id,
      case when many then null else to_jsonb(c) ->> tg_argv[1] end as address
    from changed c
  ) affected;
  return null;
end $$;

create trigger suppressions_notify_insert after insert on suppressions
  referencing new table as changed
  for each statement execute function notify_refusals('suppressed', 'email');
create trigger suppressions_notify_update after update on suppressions
  referencing new table as changed
  for each statement execute function notify_refusals('suppressed', 'email');
create trigger suppressions_notify_delete after delete on suppressions
  referencing old table as changed
  for each statement execute function notify_refusals('suppressed', 'email');

-- Limits towards destinations that differ from the built-in ones.
create table isp_limits (
  domain text primary key check (domain = lower(domain)),
  hourly_limit integer not null check (hourly_limit >= 0),
  daily_limit integer not null check (daily_limit >= 0),
  burst_limit integer not null check (burst_limit >= 0),
  delay_ms integer not null check (delay_ms >= 0),
  max_concurrent integer not null check (max_concurrent >= 0),
  updated_at timestamptz not null
);

comment on column isp_limits.domain is '`default` applies to all other domains';

-- Messages that organizations sent to a destination, by hour.
create table send_counts (
  organization_id text not null references organizations on delete cascade,
  recipient_domain text not null,
  hour timestamptz not null,
  sent integer not null default 0,
  minute timestamptz not null,
  sent_in_minute integer not null default 0,
  throttled boolean not null default false,
  primary key (organization_id, recipient_domain, hour)
) with (fillfactor = 70);

comment on column send_counts.minute is 'the last minute with a sent message; sent_in_minute counts it';
comment on column send_counts.throttled is 'the throttling event of this hour was emitted';

create index send_counts_by_hour on send_counts using brin (hour);

-- IP addresses in warm-up: the daily volume grows from a small first day.
create table warmup_schedules (
  ip_address text primary key check (length(ip_address) <= 45),
  organization_id text references organizations on delete cascade,
  target_daily_volume integer not null check (target_daily_volume > 0),
  warmup_days integer not null check (warmup_days between 1 and 365),
  started_at timestamptz not null,
  paused_at timestamptz,
  told_day integer not null default 0
);

comment on column warmup_schedules.organization_id is
  'null: the IP address sends for every organization without a schedule of its own';
comment on column warmup_schedules.paused_at is 'the limit of this time stays until the schedule is resumed';

comment on column warmup_schedules.told_day is 'the last day whose limit was emitted as an event';

create index warmup_schedules_of_organization on warmup_schedules (organization_id);

create table warmup_sends (
  ip_address text not null references warmup_schedules on delete cascade,
  day date not null,
  sent integer not null default 0,
  primary key (ip_address, day)
) with (fillfactor = 70);

-- Outgoing mail that a limit concerns. Waiting mail is on hold in the queue of Postfix and is released by the
-- delivery optimizer. There is no foreign key: mail of a deleted organization still has to leave the queue.
create table paced_mail (
  id text primary key,
  organization_id text not null,
  recipient_domain text not null,
  recipients integer not null,
  envelope text not null,
  ip_address text,
  state text not null check (state in ('waiting', 'releasing', 'sending')),
  reason text check (reason in ('warm_up', 'hourly', 'daily')),
  queue_id text,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
) with (fillfactor = 70);

comment on column paced_mail.recipients is 'the number of recipients at this domain';
comment on column paced_mail.envelope is
  'digest of sender and recipients; finds the message in the queue if its queue id was lost';
comment on column paced_mail.ip_address is 'the warm-up that counts the message when it is delivered';
comment on column paced_mail.state is
  'sending: handed to Postfix and not delivered yet, which counts until the log names the result';
comment on column paced_mail.created_at is 'time of the database, to be compared with the mail log';

create index paced_mail_waiting on paced_mail (created_at, id) where state <> 'sending';
create index paced_mail_of_destination on paced_mail (organization_id, recipient_domain);
create index paced_mail_of_ip on paced_mail (ip_address, state);
