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
  credential_id text
);

comment on column mail_log.id is 'derived from queue id, recipient, status and time: reading a log twice changes nothing';
comment on column mail_log.credential_id is 'the SMTP credential that sent it; absent before attribution began';

create index mail_log_of_credential on mail_log (credential_id, "timestamp", status) where credential_id is not null;
create index mail_log_of_recipient on mail_log (recipient, "timestamp");
