-- Monitoring states are stored, so that all processes show equal values and a change emits one event.
-- A heartbeat of each daemon in each process.
create table daemon_heartbeats (
  instance text not null,
  name text not null,
  host text not null,
  address text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  requests bigint not null default 0,
  errors bigint not null default 0,
  sampled_requests bigint not null default 0,
  sampled_errors bigint not null default 0,
  sampled_at timestamptz,
  primary key (instance, name)
);

comment on column daemon_heartbeats.instance is 'one process; a process deletes its rows when it stops';
comment on column daemon_heartbeats.sampled_at is 'counts up to this time are in the samples';

create table service_health (
  name text primary key,
  status text not null check (status in ('up', 'degraded', 'down', 'error')),
  protocol text not null,
  critical boolean not null,
  response_time double precision,
  check_duration double precision not null,
  error text,
  checked_at timestamptz not null,
  changed_at timestamptz not null
);

comment on column service_health.response_time is 'milliseconds; null without a response';

create table host_health (
  host text not null,
  resource text not null check (resource in ('cpu', 'memory', 'disk')),
  level text not null check (level in ('ok', 'warning', 'critical')),
  percent double precision not null,
  checked_at timestamptz not null,
  changed_at timestamptz not null,
  primary key (host, resource)
);

-- Attempts to restart a service; the restart guard counts them.
create table service_restarts (
  id text primary key,
  service text not null,
  attempted_at timestamptz not null,
  automatic boolean not null,
  reason text,
  succeeded boolean,
  error text
);

create index service_restarts_of_service on service_restarts (service, attempted_at);
create index service_restarts_by_time on service_restarts (attempted_at);

-- One row per minute and series.
create table metric_samples (
  metric text not null,
  label text not null,
  minute timestamptz not null,
  value double precision not null,
  primary key (metric, label, minute)
);

create index metric_samples_by_minute on metric_samples (minute);

create table alert_channels (
  id text primary key,
  name text not null check (length(name) between 1 and 255),
  type text not null check (type in ('email', 'webhook')),
  target text not null check (length(target) between 1 and 1000),
  enabled boolean not null default true,
  signing_secret bytea,
  last_used_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
);

comment on column alert_channels.signing_secret is 'sealed';

create table alert_rules (
  id text primary key,
  name text not null check (length(name) between 1 and 255),
  description text check (length(description) <= 2000),
  metric text not null,
  comparator text not null check (comparator in ('>', '>=', '<', '<=', '==')),
  threshold double precision not null,
  for_seconds integer not null default 0 check (for_seconds between 0 and 86400),
  severity text not null default 'warning' check (severity in ('critical', 'warning', 'info')),
  enabled boolean not null default true,
  channel_ids text[] not null default '{}',
  organization_id text references organizations on delete cascade,
  evaluated_at timestamptz,
  breach_began_at timestamptz,
  last_fired_at timestamptz,
  last_notified_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column alert_rules.channel_ids is 'may contain deleted channels, which are ignored';
comment on column alert_rules.breach_began_at is 'since when the condition holds without interruption';
comment on column alert_rules.last_notified_at is
  'last notification of firing; the minimum pause starts here';

create index alert_rules_organization_id on alert_rules (organization_id);

create table alert_events (
  id bigint generated always as identity primary key,
  rule_id text references alert_rules on delete set null,
  rule_name text not null,
  metric text not null,
  comparator text not null,
  severity text not null check (severity in ('critical', 'warning', 'info')),
  value double precision,
  threshold double precision not null,
  state text not null check (state in ('firing', 'resolved')),
  message text,
  created_at timestamptz not null,
  notified_at timestamptz,
  resolved_at timestamptz
);

comment on column alert_events.notified_at is
  'null: not notified, because the last notification was too recent';

-- A rule has at most one firing event, also with several evaluating processes.
create unique index alert_events_open on alert_events (rule_id) where state = 'firing';
create index alert_events_of_rule on alert_events (rule_id, id);
create index alert_events_by_created_at on alert_events (created_at, id);

-- Notifications to send, stored with the event; each is sent at least once.
create table alert_notifications (
  id bigint generated always as identity primary key,
  event_id bigint not null references alert_events on delete cascade,
  channel_id text not null references alert_channels on delete cascade,
  kind text not null check (kind in ('firing', 'resolved')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  done_at timestamptz,
  last_error text,
  created_at timestamptz not null
);

comment on column alert_notifications.done_at is 'delivered, or given up when last_error is set';

create index alert_notifications_due on alert_notifications (due_at, id) where done_at is null;
create index alert_notifications_event_id on alert_notifications (event_id);
create index alert_notifications_channel_id on alert_notifications (channel_id);
create index alert_notifications_done_at on alert_notifications (done_at) where done_at is not null;

-- Backups as reported by the backup tool; one row per run and host.
create table backup_runs (
  id bigint generated always as identity primary key,
  backup_id text not null,
  hostname text not null,
  backup_type text not null,
  target text not null,
  status text not null check (status in ('running', 'completed', 'failed')),
  size_bytes bigint,
  storage_path text,
  checksum text,
  encrypted boolean not null,
  error_message text,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  unique (backup_id, hostname)
);

create index backup_runs_started on backup_runs (started_at, id);
create index backup_runs_host on backup_runs (hostname, status, completed_at);
