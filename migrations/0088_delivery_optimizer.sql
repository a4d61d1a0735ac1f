-- Limits towards destinations that are not as the program has them.
create table isp_limits (
  domain text primary key check (domain = lower(domain)),
  hourly_limit integer not null check (hourly_limit >= 0),
  daily_limit integer not null check (daily_limit >= 0),
  burst_limit integer not null check (burst_limit >= 0),
  delay_ms integer not null check (delay_ms >= 0),
  max_concurrent integer not null check (max_concurrent >= 0),
  updated_at timestamptz not null
);

comment on column isp_limits.domain is '`default` for all that are not named';

-- What organizations sent to a destination, by hour.
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

comment on column send_counts.minute is 'the last one in which something was sent, and how much in it';
comment on column send_counts.throttled is 'it was told that mail is slowed down in this hour';

create index send_counts_by_hour on send_counts using brin (hour);

-- Addresses that begin to send: a little on the first day, more on each that follows.
create table warmup_schedules (
  ip_address text primary key check (length(ip_address) <= 45),
  organization_id text not null references organizations on delete cascade,
  target_daily_volume integer not null check (target_daily_volume > 0),
  warmup_days integer not null check (warmup_days between 1 and 365),
  started_at timestamptz not null,
  told_day integer not null default 0
);

comment on column warmup_schedules.told_day is 'the last day whose limit was told as an event';

create index warmup_schedules_of_organization on warmup_schedules (organization_id);

create table warmup_sends (
  ip_address text not null references warmup_schedules on delete cascade,
  day date not null,
  sent integer not null default 0,
  primary key (ip_address, day)
) with (fillfactor = 70);
