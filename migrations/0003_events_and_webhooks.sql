-- Events are written in the transaction of the change that caused them. Delivery reads them from here.
create table events (
  sequence bigint generated always as identity primary key,
  id text not null unique,
  event text not null,
  source text not null,
  org_id text,
  domain text,
  tags jsonb not null default '[]',
  user_variables jsonb not null default '{}',
  data jsonb not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);

-- What GET /api/v1/activity/ lists: not the events of single messages, logins, reports and
-- compliance.
create index events_activity on events (org_id, created_at, sequence)
  where org_id is not null
    and event !~ '^(compliance|delivery|email|folder|pop3|rag|tracking)\.|^auth\.login\.|\.(progress|report|sent|triggered)$';

-- Endpoints that organizations register.
create table webhook_endpoints (
  id text primary key,
  organization_id text references organizations on delete cascade,
  url text not null check (length(url) <= 1000),
  name text not null default 'webhook' check (length(name) <= 255),
  description text not null default '',
  active boolean not null default true,
  event_types jsonb,
  secret bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  previous_secret bytea,
  previous_secret_until timestamptz
);

comment on column webhook_endpoints.secret is 'sealed';
comment on column webhook_endpoints.event_types is 'null: all event types';
comment on column webhook_endpoints.previous_secret is 'sealed; also signs until previous_secret_until';

create index webhook_endpoints_of_organization on webhook_endpoints (organization_id, created_at, id);
create index webhook_endpoints_by_created_at on webhook_endpoints (created_at, id);

-- Pending deliveries, stored with the change that caused them. A lane is a share of the work and has one
-- daemon at a time: events about one thing share a lane, so first attempts keep their order without a
-- claim per event. An endpoint also has one lane, so one daemon alone enforces its limits; within an
-- endpoint, events with the same subject keep their order.
-- There is no foreign key to the endpoint, because every event would lock its row. The daemon deletes
-- the entries of an endpoint that is deleted or inactive.
create table webhook_queue (
  id bigint generated always as identity primary key,
  event_id text not null references events (id) on delete cascade,
  lane smallint not null check (lane between 0 and 63),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  last_error text,
  endpoint_id text,
  subject smallint
);

comment on column webhook_queue.endpoint_id is 'null: the global URL';
comment on column webhook_queue.subject is 'null: equal to the lane';

create index webhook_queue_event_id on webhook_queue (event_id);
create index webhook_queue_first on webhook_queue (id) include (lane)
  where attempts = 0 and endpoint_id is null;
create index webhook_queue_retries on webhook_queue (due_at, id) include (lane)
  where attempts > 0 and endpoint_id is null;
create index webhook_queue_endpoint_first on webhook_queue (lane, endpoint_id, id)
  where attempts = 0 and endpoint_id is not null;
create index webhook_queue_endpoint_retries on webhook_queue (lane, endpoint_id, due_at, id)
  where attempts > 0 and endpoint_id is not null;

create table webhook_lanes (
  lane smallint primary key,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

insert into webhook_lanes (lane) select generate_series(0, 63);

create function notify_webhooks() returns trigger language plpgsql as $$
begin
  notify mailplane_webhooks;
  return null;
end $$;

create trigger webhook_queue_notify
  after insert on webhook_queue
  for each statement execute function notify_webhooks();
-- A changed URL or secret, or a deleted endpoint, takes effect at the next attempt.
create trigger webhook_endpoints_notify
  after update or delete on webhook_endpoints
  for each statement execute function notify_webhooks();

-- Log of all delivery attempts.
create table webhook_deliveries (
  id text primary key,
  event_id text not null,
  event_type text not null,
  endpoint_id text,
  webhook_url text not null,
  organization_id text,
  message_id text,
  delivery_status text not null
    check (delivery_status in ('pending', 'delivered', 'failed', 'retrying', 'abandoned')),
  http_status_code integer not null,
  attempts integer not null,
  error_message text,
  created_at timestamptz not null,
  delivered_at timestamptz
);

create index webhook_deliveries_of_organization on webhook_deliveries (organization_id, created_at, id);
create index webhook_deliveries_by_created_at on webhook_deliveries (created_at, id);
create index webhook_deliveries_of_event on webhook_deliveries (event_id, attempts);
create index webhook_deliveries_of_message on webhook_deliveries (message_id) where message_id is not null;
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at, id)
  where endpoint_id is not null;

create table webhook_dead_letters (
  id bigint generated always as identity primary key,
  event_id text not null,
  organization_id text,
  event_type text not null,
  endpoint_url text not null,
  last_error text not null,
  attempt_count integer not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'resolved', 'abandoned')),
  payload jsonb not null,
  created_at timestamptz not null default now(),
  last_attempted_at timestamptz,
  resolved_at timestamptz,
  endpoint_id text
);

create index webhook_dead_letters_of_organization on webhook_dead_letters (organization_id, id);
create index webhook_dead_letters_event_id on webhook_dead_letters (event_id);
create index webhook_dead_letters_of_endpoint on webhook_dead_letters (endpoint_id, id)
  where endpoint_id is not null;
create index webhook_dead_letters_open on webhook_dead_letters (organization_id) where status <> 'resolved';

create function webhook_endpoint_lane(endpoint_id text) returns smallint
  language sql immutable strict parallel safe
  -- bigint, because abs() of the smallest integer overflows.
  return (abs(hashtext(endpoint_id)::bigint) % 64)::smallint;

-- Heartbeats of the daemons that share the lanes; they claim nothing. They are counted here because a
-- daemon may not hold a lane yet.
create table webhook_daemon_heartbeats (
  daemon_id text primary key,
  expires_at timestamptz not null
);

-- Clean-up settings that were changed at run time, and the result of the last run.
create table webhook_cleanup (
  only_row boolean primary key default true check (only_row),
  settings jsonb not null default '{}',
  begun_at timestamptz,
  finished_at timestamptz,
  deleted_deliveries bigint not null default 0,
  deleted_events bigint not null default 0
);

comment on column webhook_cleanup.settings is 'settings that differ from the environment';

insert into webhook_cleanup default values;

-- Messages of the pub/sub channel that are stored as events. Every daemon receives every message; the
-- primary key lets one of them store it.
create table webhook_channel_messages (
  fingerprint text not null,
  occurrence integer not null,
  received_at timestamptz not null default now(),
  primary key (fingerprint, occurrence)
);

create index webhook_channel_messages_received_at on webhook_channel_messages (received_at);
