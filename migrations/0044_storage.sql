-- What Dovecot counts in each mailbox, written by Dovecot itself whenever it changes (quota_clone).
-- The rest of the schema belongs to the configuration of the mail servers, which may come first.
create schema if not exists edge;
create table if not exists edge.quota_usage (
  username text primary key,
  bytes bigint not null default 0,
  messages bigint not null default 0
);

-- Work that follows a change is done by the control plane, which is woken here.
create function tell_chore() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_chores', tg_argv[0]);
  return null;
end $$;

-- Whose figures or quotas have changed. Dovecot only leaves a mark here while it delivers: the sums of
-- a domain and its organization are rows that all deliveries would otherwise queue up for.
create table storage_pending (
  kind text not null check (kind in ('mailbox', 'domain')),
  name text not null,
  changes bigint not null default 1,
  primary key (kind, name)
);

create trigger storage_pending_tell
  after insert or update on storage_pending
  for each statement execute function tell_chore('storage');

-- The mark is written also when it is there: who takes it away then waits, and sees the figures of now.
create function mark_storage(p_kind text, p_names text[]) returns void
language sql as $$
  insert into public.storage_pending (kind, name)
  select p_kind, name from unnest(p_names) as name order by name
  on conflict (kind, name) do update set changes = storage_pending.changes + 1
$$;

-- Dovecot's role may write its own table and nothing of ours.
create function mark_quota_usage() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if tg_op = 'INSERT' or (old.bytes, old.messages) is distinct from (new.bytes, new.messages) then
    perform public.mark_storage('mailbox', array[lower(new.username)]);
  end if;
  return null;
end $$;

create trigger quota_usage_mark
  after insert or update on edge.quota_usage
  for each row execute function mark_quota_usage();

create function mark_mailbox_quota() returns trigger language plpgsql as $$
begin
  perform mark_storage('mailbox', array[new.email]);
  return null;
end $$;

create trigger email_accounts_mark_quota
  after update of storage_quota, storage_quotas on email_accounts
  for each row
  when ((old.storage_quota, old.storage_quotas) is distinct from (new.storage_quota, new.storage_quotas))
  execute function mark_mailbox_quota();

create function mark_domain_quota() returns trigger language plpgsql as $$
begin
  perform mark_storage('domain', array[new.domain]);
  -- The domain's limit is also that of its mailboxes without one of their own.
  perform mark_storage('mailbox', array(
    select email from email_accounts
    where domain_id = new.id and storage_quota = 0 and storage_used > 0));
  return null;
end $$;

create trigger domains_mark_quota
  after update of max_quota, storage_quotas on domains
  for each row
  when ((old.max_quota, old.storage_quotas) is distinct from (new.max_quota, new.storage_quotas))
  execute function mark_domain_quota();

-- What was told about a mailbox or domain that is near its limit; without a row, nothing was.
create table storage_alerts (
  entity_type text not null check (entity_type in ('mailbox', 'domain')),
  identifier text not null,
  organization_id text not null references organizations on delete cascade,
  told text not null check (told in ('none', 'warning', 'critical')),
  warning_at timestamptz,
  critical_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (entity_type, identifier)
);

create index storage_alerts_of_organization on storage_alerts (organization_id);
create index storage_alerts_by_updated_at on storage_alerts (updated_at);

-- Usage of domains over time.
create table storage_calculations (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  used_bytes bigint not null,
  quota_bytes bigint,
  total_emails bigint not null,
  calculated_at timestamptz not null default now()
);

create index storage_calculations_of_organization on storage_calculations (organization_id);
create index storage_calculations_of_domain on storage_calculations (domain, calculated_at);
create index storage_calculations_by_time on storage_calculations (calculated_at, id);

-- Whoever gets the address next begins with nothing.
create function forget_mailbox_storage() returns trigger language plpgsql as $$
begin
  delete from edge.quota_usage where username = old.email;
  delete from storage_alerts where entity_type = 'mailbox' and identifier = old.email;
  return null;
end $$;

create trigger email_accounts_forget_storage
  after delete on email_accounts
  for each row execute function forget_mailbox_storage();

create function forget_domain_storage() returns trigger language plpgsql as $$
begin
  delete from storage_alerts where entity_type = 'domain' and identifier = old.domain;
  delete from storage_calculations where domain = old.domain;
  return null;
end $$;

create trigger domains_forget_storage
  after delete on domains
  for each row execute function forget_domain_storage();
