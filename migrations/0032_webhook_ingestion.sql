-- How old records are cleaned up where that was changed while running, and what came of it last.
create table webhook_cleanup (
  only_row boolean primary key default true check (only_row),
  settings jsonb not null default '{}',
  begun_at timestamptz,
  finished_at timestamptz,
  deleted_deliveries bigint not null default 0,
  deleted_events bigint not null default 0
);

comment on column webhook_cleanup.settings is 'what differs from the environment';

insert into webhook_cleanup default values;

-- Messages of the pub/sub channel that were stored as events. Every daemon hears every message; the
-- primary key lets one of them store it.
create table webhook_channel_messages (
  fingerprint text not null,
  occurrence integer not null,
  received_at timestamptz not null default now(),
  primary key (fingerprint, occurrence)
);

create index webhook_channel_messages_received_at on webhook_channel_messages (received_at);
