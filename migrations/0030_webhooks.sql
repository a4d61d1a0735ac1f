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
  updated_at timestamptz not null default now()
);

comment on column webhook_endpoints.secret is 'sealed';
comment on column webhook_endpoints.event_types is 'null: all of them';

create index webhook_endpoints_of_organization on webhook_endpoints (organization_id, created_at, id);
create index webhook_endpoints_by_created_at on webhook_endpoints (created_at, id);

-- What waits to be delivered, stored with the change that caused it. A lane is a share of the work:
-- events about one thing are in one lane, and a lane has one daemon at a time, so first attempts
-- keep their order without a claim per event.
create table webhook_queue (
  id bigint generated always as identity primary key,
  event_id text not null references events (id) on delete cascade,
  lane smallint not null check (lane between 0 and 63),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  last_error text
);

create index webhook_queue_first on webhook_queue (id) where attempts = 0;
create index webhook_queue_retries on webhook_queue (due_at, id) where attempts > 0;
create index webhook_queue_event_id on webhook_queue (event_id);

create table webhook_lanes (
  lane smallint primary key,
  owner text,
  lease_until timestamptz not null default '-infinity'
);

insert into webhook_lanes (lane) select generate_series(0, 63);

create function tell_webhooks() returns trigger language plpgsql as $$
begin
  notify mailplane_webhooks;
  return null;
end $$;

create trigger webhook_queue_tell
  after insert on webhook_queue
  for each statement execute function tell_webhooks();

-- Every attempt, as people read it.
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
  resolved_at timestamptz
);

create index webhook_dead_letters_of_organization on webhook_dead_letters (organization_id, id);
create index webhook_dead_letters_event_id on webhook_dead_letters (event_id);
