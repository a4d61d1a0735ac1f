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

comment on column alert_rules.channel_ids is 'a deleted channel stays in here and is passed over';
comment on column alert_rules.breach_began_at is 'since when the condition has held without a break';
comment on column alert_rules.last_notified_at is 'when firing was told last; the pause between two is measured from here';

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

comment on column alert_events.notified_at is 'null: nobody was told, because the rule had been told of a moment before';

-- Whatever evaluates: a rule fires once at a time.
create unique index alert_events_open on alert_events (rule_id) where state = 'firing';
create index alert_events_of_rule on alert_events (rule_id, id);
create index alert_events_by_created_at on alert_events (created_at, id);

-- What is to be told, stored with the event; at least once.
create table alert_notifications (
  id bigint generated always as identity primary key,
  event_id bigint not null references alert_events on delete cascade,
  channel_id text not null references alert_channels on delete cascade,
  kind text not null check (kind in ('firing', 'resolved')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  done_at timestamptz,
  last_error text,
  created_at timestamptz not null
);

comment on column alert_notifications.due_at is 'an attempt under way moves it; who dies in the middle is followed up then';
comment on column alert_notifications.done_at is 'delivered, or given up when there is a last_error';

create index alert_notifications_due on alert_notifications (due_at, id) where done_at is null;
create index alert_notifications_event_id on alert_notifications (event_id);
create index alert_notifications_channel_id on alert_notifications (channel_id);
create index alert_notifications_done_at on alert_notifications (done_at) where done_at is not null;
