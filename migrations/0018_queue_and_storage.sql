-- The mail queue each minute, as a queue manager has seen it. A queue without messages has rows too: they
-- tell an empty queue from a queue manager that does not run.
create table queue_samples (
  host text not null,
  queue_name text not null check (queue_name in ('active', 'deferred', 'hold')),
  minute timestamptz not null,
  message_count integer not null,
  size_bytes bigint not null,
  oldest_age_seconds integer,
  primary key (host, queue_name, minute)
);

create index queue_samples_by_minute on queue_samples (minute);

comment on column queue_samples.oldest_age_seconds is 'null for an empty queue';

-- What a mailbox, domain or organization had stored on a day. A day without a change has no row.
create table storage_history (
  organization_id text not null references organizations on delete cascade,
  entity_type text not null check (entity_type in ('organization', 'domain', 'mailbox')),
  entity_id text not null,
  storage_type text not null,
  day date not null,
  used_bytes bigint not null,
  primary key (entity_id, storage_type, day)
);

create index storage_history_of_organization on storage_history (organization_id);
create index storage_history_by_day on storage_history (day);

comment on column storage_history.storage_type is 'mailbox, attachments, dav, …: see usage/kinds.ts';

create function forget_storage_history() returns trigger language plpgsql as $$
begin
  delete from storage_history where entity_id = old.id;
  return null;
end $$;

create trigger email_accounts_forget_storage_history
  after delete on email_accounts
  for each row execute function forget_storage_history();

create trigger domains_forget_storage_history
  after delete on domains
  for each row execute function forget_storage_history();

-- Tells how far the figures are behind.
alter table storage_pending add column marked_at timestamptz not null default now();
