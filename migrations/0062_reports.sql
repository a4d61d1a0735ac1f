create table analytics_reports (
  report_id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  report_type text not null,
  period_days integer not null,
  data jsonb not null,
  generated_at timestamptz not null default now()
);

create index analytics_reports_of_organization on analytics_reports (organization_id);
create index analytics_reports_by_age on analytics_reports (generated_at);

create table analytics_schedules (
  schedule_id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  report_type text not null,
  "interval" text not null check ("interval" in ('daily', 'weekly', 'monthly')),
  recipients text[] not null default '{}',
  timezone text not null default 'UTC',
  webhook_url text,
  webhook_secret bytea,
  created_at timestamptz not null default now(),
  due_at timestamptz not null,
  last_run_at timestamptz,
  last_error text,
  claimed_by text,
  claimed_until timestamptz not null default '-infinity'
);

comment on column analytics_schedules.webhook_secret is 'sealed';
comment on column analytics_schedules.claimed_until is 'a process is at it until then; one that lives says so again before';

create index analytics_schedules_of_organization on analytics_schedules (organization_id, created_at);
create index analytics_schedules_by_due_at on analytics_schedules (due_at);
