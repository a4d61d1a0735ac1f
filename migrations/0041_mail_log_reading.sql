-- What the log ingestor reads from, how far it is, and what it knows of messages under way. All of it
-- is stored in the transaction that stores the rows, so that a log is read exactly once.
alter table mail_log
  add column original_recipient text,
  add column bounce_type text check (bounce_type in ('HARD', 'SOFT', 'BLOCK'));

comment on column mail_log.original_recipient is 'what was addressed, where an alias led to the recipient';

create table mail_log_positions (
  name text primary key,
  head bytea not null default '',
  "offset" bigint not null default 0,
  inode text not null default '',
  counted jsonb not null default '[]',
  owner text,
  lease_until timestamptz not null default '-infinity',
  updated_at timestamptz not null default now()
);

comment on column mail_log_positions.name is 'machine and path of a log';
comment on column mail_log_positions.head is 'the first bytes of the file, which tell it from others';
comment on column mail_log_positions.counted is 'rows of the last seconds that would have the same id';

create table mail_log_messages (
  log_name text not null references mail_log_positions on delete cascade,
  queue_id text not null,
  seen bigint not null,
  message jsonb not null,
  primary key (log_name, queue_id)
);

comment on column mail_log_messages.seen is 'order of last use';

-- The trace: newest first over all, by organization, by address, by message. An index over parts of
-- subjects would cost a fifth of all the work; subjects are looked for along these.
create index mail_log_by_timestamp on mail_log ("timestamp");
create index mail_log_of_organization on mail_log (organization_id, "timestamp");
create index mail_log_of_message on mail_log (message_id) where message_id is not null;
create index mail_log_of_sender on mail_log (sender, "timestamp");
create index mail_log_of_original_recipient on mail_log (original_recipient, "timestamp")
  where original_recipient is not null;
