-- What the monitoring knows. States are stored, so that every process shows the same and a change is
-- told once, whoever sees it.

-- A sign of life of each daemon in each process.
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

comment on column daemon_heartbeats.instance is 'one process; a stopped one takes its rows with it';
comment on column daemon_heartbeats.sampled_at is 'what was counted by then is in the samples';

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

comment on column service_health.response_time is 'milliseconds; null when nothing answered';

create table host_health (
  host text not null,
  resource text not null check (resource in ('cpu', 'memory', 'disk')),
  level text not null check (level in ('ok', 'warning', 'critical')),
  percent double precision not null,
  checked_at timestamptz not null,
  changed_at timestamptz not null,
  primary key (host, resource)
);

-- Attempts to restart a service; the guard counts them.
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

-- One row a minute for each series.
create table metric_samples (
  metric text not null,
  label text not null,
  minute timestamptz not null,
  value double precision not null,
  primary key (metric, label, minute)
);

create index metric_samples_by_minute on metric_samples (minute);
