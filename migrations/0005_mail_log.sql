-- One row per recipient and delivery attempt, written by the log ingestor.
create table mail_log (
  id text primary key,
  "timestamp" timestamptz not null,
  sender text not null default '',
  recipient text not null default '',
  organization_id text,
  subject text,
  status text not null
    check (status in ('queued', 'sending', 'sent', 'delivered', 'bounced', 'rejected', 'deferred')),
  message_id text,
  queue_id text,
  relay text,
  size integer,
  delays text,
  dsn text,
  bounce_reason text,
  spam_score double precision,
  sasl_username text,
  credential_id text,
  original_recipient text,
  bounce_type text check (bounce_type in ('HARD', 'SOFT', 'BLOCK')),
  superseded boolean not null default false
);

comment on column mail_log.id is
  'derived from queue id, recipient, status and time, so that reading a log twice adds no rows';
comment on column mail_log.credential_id is 'the SMTP credential that sent the message, if known';
comment on column mail_log.superseded is
  'a later attempt for this message and recipient is stored; figures count messages by their last state';
comment on column mail_log.original_recipient is 'the e-mail address before alias expansion';

-- Spam scores of incoming mail. The content filter knows the score, and the log the delivery; they meet by
-- the Message-ID.
create table mail_scores (
  message_id text not null,
  organization_id text not null references organizations on delete cascade,
  score double precision not null,
  scanned_at timestamptz not null,
  primary key (message_id, organization_id)
);

create index mail_scores_of_organization on mail_scores (organization_id);
create index mail_scores_by_time on mail_scores (scanned_at);

create index mail_log_of_credential on mail_log (credential_id, "timestamp", status)
  where credential_id is not null;
create index mail_log_of_recipient on mail_log (recipient, "timestamp");
-- The trace searches by time, organization, e-mail address and message. An index over parts of subjects
-- would cost a fifth of the ingestion time, so subjects are filtered along these.
create index mail_log_by_timestamp on mail_log ("timestamp");
create index mail_log_of_organization on mail_log (organization_id, "timestamp");
create index mail_log_of_message on mail_log (message_id) where message_id is not null;
create index mail_log_of_sender on mail_log (sender, "timestamp");
create index mail_log_of_login on mail_log (lower(sasl_username), "timestamp")
  where sasl_username is not null;
create index mail_log_of_original_recipient on mail_log (original_recipient, "timestamp")
  where original_recipient is not null;

create table mail_log_positions (
  name text primary key,
  head bytea not null default '',
  "offset" bigint not null default 0,
  inode text not null default '',
  counted jsonb not null default '[]',
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  updated_at timestamptz not null default now()
);

comment on column mail_log_positions.name is 'host and path of a log';
comment on column mail_log_positions.head is 'the first bytes of the file, which identify it';
comment on column mail_log_positions.counted is
  'counters for rows of the last seconds that would have equal ids';

create table mail_log_messages (
  log_name text not null references mail_log_positions on delete cascade,
  queue_id text not null,
  seen bigint not null,
  message jsonb not null,
  primary key (log_name, queue_id)
);

comment on column mail_log_messages.seen is 'order of last use';
