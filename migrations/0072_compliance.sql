-- Archives of what is kept about a person. One row per request; a worker takes it by its lease, so that
-- a killed one is followed by another. The file is sealed with a key that stands here, also sealed:
-- without the row it is noise.
create table data_exports (
  id text primary key,
  organization_id text not null,
  account_id text not null,
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
  lease_token text,
  lease_until timestamptz not null default '-infinity',
  completed_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

comment on column data_exports.file_key is 'sealed; gone once the export has expired';
comment on column data_exports.contents is 'how many of what is in the archive';

create index data_exports_of_email on data_exports (user_email, created_at, id);
create index data_exports_due on data_exports (due_at, id) where status in ('pending', 'processing');
create index data_exports_by_expiry on data_exports (expires_at) where status = 'completed';

create trigger data_exports_tell
  after insert on data_exports
  for each statement execute function tell_chore('data-exports');

-- Requests to forget a person, kept for ever with what was removed: the proof outlives the data.
create table data_erasures (
  id text primary key,
  organization_id text not null,
  account_id text not null,
  user_email text not null check (user_email = lower(user_email)),
  status text not null default 'soft_deleted'
    check (status in ('pending', 'soft_deleted', 'hard_deleted', 'cancelled')),
  requested_by text not null,
  reason text,
  previous_status text not null,
  removed jsonb not null default '{}',
  attempts integer not null default 0,
  error_message text,
  begun_at timestamptz,
  lease_token text,
  lease_until timestamptz not null default '-infinity',
  due_at timestamptz not null,
  soft_deleted_at timestamptz not null,
  hard_delete_scheduled_at timestamptz not null,
  hard_deleted_at timestamptz,
  created_at timestamptz not null default now()
);

comment on column data_erasures.begun_at is 'when removing began; from then on no hold can stop it';
comment on column data_erasures.removed is 'how many of what was removed, step by step';

create index data_erasures_of_email on data_erasures (user_email, created_at, id);
create unique index data_erasures_under_way on data_erasures (account_id)
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

-- Holds outlive what they are about; a row is never deleted.
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
  created_at timestamptz not null default now()
);

comment on column legal_holds.custodians is 'addresses; none means every address of the organization';

create index legal_holds_of_organization on legal_holds (organization_id, created_at, id);
create index legal_holds_by_created_at on legal_holds (created_at, id);

-- Which addresses of an organization must be left as they are, now.
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
  auto_archive boolean not null default true,
  archive_after_days integer not null default 90 check (archive_after_days between 1 and 36500),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column retention_policies.legal_hold is 'nothing is ever deleted, whatever the days say';

-- How far the work of today is; who goes on after a kill begins there.
create table retention_runs (
  organization_id text primary key references organizations on delete cascade,
  begun_at timestamptz,
  finished_at timestamptz,
  last_email text not null default '',
  counts jsonb not null default '{}',
  lease_token text,
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

-- Rows of the log by their age, organization by organization.
create index quarantine_by_created_at on quarantine (organization_id, created_at);

-- Where mail is kept does not depend on whether its holder may log in: what a suspended mailbox has
-- can be exported, expire and be erased. Logins and deliveries ask for something else.
create or replace function edge.mailbox(p_user text)
returns table (username text, folder text, quota_rule text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, lower(right(m.id, 2)) || '/' || m.id, '*:bytes=' || m.quota_bytes
  from (
    select email, id, quota_bytes from edge.mailboxes
    union all
    select a.email, a.id, case when a.storage_quota > 0 then a.storage_quota else d.max_quota end
    from public.email_accounts a
    join public.domains d on d.id = a.domain_id
    join public.organizations o on o.id = a.organization_id
    where not (a.status = 'active' and d.active and o.active)
  ) as m
  where m.email in (lower(p_user), regexp_replace(lower(p_user), '^([^@+]+)\+[^@]*@', '\1@'))
  order by m.email = lower(p_user) desc
  limit 1
$$;
