-- Archives of a person's data, one row per request. A worker claims a row by its lease. The archive is
-- encrypted with a key that is stored here, sealed: without the row the file cannot be read.
create table data_exports (
  id text primary key,
  organization_id text,
  account_id text,
  user_email text not null check (user_email = lower(user_email)),
  status text not null default 'pending'
    check (status in ('pending', 'processing', 'completed', 'failed', 'expired')),
  export_type text not null default 'full'
    check (export_type in ('full', 'emails', 'contacts', 'settings')),
  file_name text,
  file_key bytea,
  file_nonce bytea,
  file_tag bytea,
  file_size bigint not null default 0,
  contents jsonb not null default '{}',
  requested_by text not null,
  error_message text,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  completed_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

comment on column data_exports.organization_id is 'null: the domain of the address is not hosted here';
comment on column data_exports.account_id is 'null: the person has no mailbox';
comment on column data_exports.file_key is 'sealed; deleted when the export expires';
comment on column data_exports.contents is 'number of items in the archive, by kind';

create index data_exports_of_email on data_exports (user_email, created_at, id);
create index data_exports_due on data_exports (due_at, id) where status in ('pending', 'processing');
create index data_exports_by_expiry on data_exports (expires_at) where status = 'completed';

create trigger data_exports_notify
  after insert on data_exports
  for each statement execute function notify_chore('data-exports');

-- Erasure requests. Rows are never deleted: they prove what was removed.
create table data_erasures (
  id text primary key,
  organization_id text,
  account_id text,
  user_email text not null check (user_email = lower(user_email)),
  status text not null default 'soft_deleted'
    check (status in ('pending', 'soft_deleted', 'hard_deleted', 'cancelled')),
  requested_by text not null,
  reason text,
  previous_status text,
  removed jsonb not null default '{}',
  attempts integer not null default 0,
  error_message text,
  begun_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  due_at timestamptz not null,
  soft_deleted_at timestamptz not null,
  hard_delete_scheduled_at timestamptz not null,
  hard_deleted_at timestamptz,
  created_at timestamptz not null default now()
);

comment on column data_erasures.begun_at is 'start of the removal; a hold can no longer stop it';
comment on column data_erasures.removed is 'number of removed items, by kind';

create index data_erasures_of_email on data_erasures (user_email, created_at, id);
create unique index data_erasures_under_way on data_erasures (user_email)
  where status in ('pending', 'soft_deleted');
create index data_erasures_due on data_erasures (due_at, id) where status = 'soft_deleted';

create table consents (
  id text primary key,
  user_email text not null check (user_email = lower(user_email)),
  consent_type text not null check (length(consent_type) between 1 and 64),
  granted boolean not null,
  ip_address text,
  user_agent text,
  granted_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index consents_type on consents (user_email, consent_type);

-- Holds outlive the data they protect; a row is never deleted.
create table legal_holds (
  id bigint generated always as identity primary key,
  organization_id text not null,
  name text not null check (length(name) between 1 and 255),
  description text,
  custodians text[] not null default '{}',
  reason text not null,
  start_date timestamptz not null default now(),
  end_date timestamptz,
  active boolean not null default true,
  created_by text not null,
  released_by text,
  released_at timestamptz,
  release_reason text,
  enforced_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now()
);

comment on column legal_holds.enforced_at is
  'when the mail servers followed the last change; null: they have yet to';

comment on column legal_holds.custodians is
  'e-mail addresses; empty means all addresses of the organization';

create index legal_holds_of_organization on legal_holds (organization_id, created_at, id);
create index legal_holds_by_created_at on legal_holds (created_at, id);
create index legal_holds_to_enforce on legal_holds (id) where enforced_at is null;

create trigger legal_holds_notify
  after insert or update of active on legal_holds
  for each statement execute function notify_chore('legal-holds');

-- The last line of defence: services refuse such a deletion with an error that explains it. An erasure that
-- has begun goes on.
create function refuse_held_mailbox() returns trigger language plpgsql as $$
begin
  if exists (
      select from legal_holds
      where organization_id = old.organization_id and active
        and (end_date is null or end_date > now())
        and (custodians = '{}' or old.email = any (custodians)))
    -- A domain whose ownership was never proven has had no mail.
    and exists (
      select from domains where id = old.domain_id and ownership_verified_at is not null)
    and not exists (
      select from data_erasures where account_id = old.id and begun_at is not null)
  then
    raise exception 'a legal hold covers %', old.email
      using errcode = 'restrict_violation', constraint = 'legal_hold';
  end if;
  return old;
end $$;

create trigger email_accounts_refuse_held
  before delete on email_accounts
  for each row execute function refuse_held_mailbox();
create trigger shared_mailboxes_refuse_held
  before delete on shared_mailboxes
  for each row execute function refuse_held_mailbox();

create function refuse_held_domain() returns trigger language plpgsql as $$
begin
  if exists (
    select from legal_holds
    where organization_id = old.organization_id and active
      and (end_date is null or end_date > now())
      and (custodians = '{}' or exists (
        select from unnest(custodians) as address
        where split_part(address, '@', 2) = old.domain)))
  then
    raise exception 'a legal hold covers addresses of %', old.domain
      using errcode = 'restrict_violation', constraint = 'legal_hold';
  end if;
  return old;
end $$;

create trigger domains_refuse_held
  before delete on domains
  for each row when (old.ownership_verified_at is not null)
  execute function refuse_held_domain();

-- Dovecot keeps the messages that the holder of this mailbox expunges.
create function edge.keeps_expunged(p_email text) returns boolean
language sql stable security definer set search_path = pg_catalog as $$
  select exists (
    select from public.email_accounts a
    join public.legal_holds h on h.organization_id = a.organization_id and h.active
      and (h.end_date is null or h.end_date > now())
      and (h.custodians = '{}' or a.email = any (h.custodians))
    where a.email = p_email)
$$;

-- Members of a shared mailbox cannot expunge while it or a member is on hold: Dovecot does not keep what is
-- expunged in folders of others, and a member could move mail there first.
create function keeps_shared(p_shared_mailbox text) returns boolean
language sql stable as $$
  select exists (
    select from shared_mailboxes s
    join legal_holds h on h.organization_id = s.organization_id and h.active
    where s.id = p_shared_mailbox and (h.custodians = '{}' or s.email = any (h.custodians)
      or exists (
        select from shared_mailbox_members m
        join email_accounts a on a.id = m.email_account_id
        where m.shared_mailbox_id = s.id and a.email = any (h.custodians))))
$$;

create function hold_changed() returns trigger language plpgsql as $$
begin
  perform mark_shared_rights(array(
    select email from shared_mailboxes
    where organization_id = new.organization_id and status = 'active'));
  return null;
end $$;

create trigger legal_holds_mark_shared_rights
  after insert or update of active on legal_holds
  for each row execute function hold_changed();

-- Whether an e-mail address of an organization is on hold now.
create function is_held(p_organization text, p_email text, p_now timestamptz) returns boolean
language sql stable as $$
  select exists (
    select from legal_holds
    where organization_id = p_organization and active
      and (end_date is null or end_date > p_now)
      and (custodians = '{}' or p_email = any (custodians)))
$$;

create table retention_policies (
  id text primary key,
  organization_id text not null unique references organizations on delete cascade,
  retention_days integer not null default 365 check (retention_days between 1 and 36500),
  legal_hold boolean not null default false,
  auto_archive boolean not null default false,
  archive_after_days integer not null default 90 check (archive_after_days between 1 and 36500),
  applies_from timestamptz not null default now(),
  previous jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column retention_policies.legal_hold is 'nothing is deleted, regardless of retention_days';
comment on column retention_policies.applies_from is 'end of the grace period of a stricter policy';
comment on column retention_policies.previous is
  'retention_days, auto_archive and archive_after_days until applies_from; null: nothing is deleted';

-- Progress of the daily retention run; another process continues from here.
create table retention_runs (
  organization_id text primary key references organizations on delete cascade,
  begun_at timestamptz,
  finished_at timestamptz,
  last_email text not null default '',
  counts jsonb not null default '{}',
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  error_message text
);

create table compliance_audit (
  id bigint generated always as identity primary key,
  action text not null,
  organization_id text,
  user_email text,
  performed_by text,
  ip_address text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create index compliance_audit_by_created_at on compliance_audit (created_at, id);
create index compliance_audit_of_email on compliance_audit (user_email, created_at, id);
create index compliance_audit_of_action on compliance_audit (action, created_at, id);
create index compliance_audit_of_address on compliance_audit (ip_address, created_at, id);

create trigger compliance_audit_append_only
  before update or delete on compliance_audit
  for each row execute function refuse_change();
create trigger compliance_audit_no_truncate
  before truncate on compliance_audit
  for each statement execute function refuse_change();
