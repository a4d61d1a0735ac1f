-- Fan-out: events also go to the endpoints that organizations registered.

alter table webhook_endpoints
  add column previous_secret bytea,
  add column previous_secret_until timestamptz;

comment on column webhook_endpoints.previous_secret is 'sealed; signs beside the new one until then';

-- An endpoint has one lane, so one daemon at a time, which alone keeps to its limits. What is about
-- one thing has one subject, and first attempts at one endpoint keep their order within it.
-- There is no foreign key to the endpoint: every event would lock its row. The daemon deletes what
-- waits for an endpoint that is gone or inactive.
alter table webhook_queue
  add column endpoint_id text,
  add column subject smallint;

comment on column webhook_queue.endpoint_id is 'null: the global address';
comment on column webhook_queue.subject is 'null: the same as the lane';

create function webhook_endpoint_lane(endpoint_id text) returns smallint
  language sql immutable strict parallel safe
  -- bigint: the absolute value of the least integer is no integer.
  return (abs(hashtext(endpoint_id)::bigint) % 64)::smallint;

-- The backlog of an endpoint is in indexes that the global address never reads.
drop index webhook_queue_first;
drop index webhook_queue_retries;
create index webhook_queue_first on webhook_queue (id) include (lane)
  where attempts = 0 and endpoint_id is null;
create index webhook_queue_retries on webhook_queue (due_at, id) include (lane)
  where attempts > 0 and endpoint_id is null;
create index webhook_queue_endpoint_first on webhook_queue (lane, endpoint_id, id)
  where attempts = 0 and endpoint_id is not null;
create index webhook_queue_endpoint_retries on webhook_queue (lane, endpoint_id, due_at, id)
  where attempts > 0 and endpoint_id is not null;

-- A changed address or secret, and the end of an endpoint, hold from the next attempt on.
create trigger webhook_endpoints_tell
  after update or delete on webhook_endpoints
  for each statement execute function tell_webhooks();

create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at, id)
  where endpoint_id is not null;

alter table webhook_dead_letters add column endpoint_id text;
create index webhook_dead_letters_of_endpoint on webhook_dead_letters (endpoint_id, id)
  where endpoint_id is not null;

-- Who shares the lanes. Without this a daemon that has none would not be counted, and get none.
create table webhook_daemons (
  id text primary key,
  alive_until timestamptz not null
);
