-- The archive of mail: one sealed object for each organization and content, and the people it concerns.
create table archive_settings (
  organization_id text primary key references organizations on delete cascade,
  enabled boolean not null default true,
  updated_at timestamptz not null default now()
);

-- A key without an organization belongs to the platform.
create table archive_keys (
  id text primary key,
  organization_id text references organizations on delete cascade,
  recipient text not null,
  sealed_identity bytea,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

comment on column archive_keys.sealed_identity is
  'sealed by the vault; null when only the organization has the identity';

create unique index archive_keys_current on archive_keys (coalesce(organization_id, ''))
  where retired_at is null;
create index archive_keys_of_organization on archive_keys (organization_id);

-- A folder on one machine where sealed messages wait for their upload.
create table archive_spools (
  id text primary key,
  host text not null,
  failures bigint not null default 0,
  problem text,
  problem_since timestamptz,
  seen_at timestamptz not null default now()
);

create table archived_messages (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  content_hash bytea not null,
  message_id text,
  sender text not null,
  subject text,
  direction text not null check (direction in ('inbound', 'outbound')),
  received_at timestamptz not null,
  archived_at timestamptz not null default now(),
  size integer not null,
  stored_size integer not null,
  storage_type text not null default 'spool' check (storage_type in ('spool', 's3', 'local')),
  storage_key text not null,
  spool_id text,
  sealed_for text[] not null,
  search tsvector not null,
  retry_at timestamptz not null default '-infinity'
);

comment on column archived_messages.content_hash is 'SHA-256 of the message';
comment on column archived_messages.sealed_for is 'the age recipients that can open the object';
comment on column archived_messages.spool_id is 'where the file waits; null once it is uploaded';

create unique index archived_messages_content on archived_messages (organization_id, content_hash);
create index archived_messages_newest on archived_messages (organization_id, received_at desc, id desc);
create index archived_messages_sender
  on archived_messages (organization_id, sender, received_at desc, id desc);
create index archived_messages_message_id on archived_messages (organization_id, message_id);
create index archived_messages_search on archived_messages using gin (search);
create index archived_messages_waiting on archived_messages (spool_id, id) where storage_type = 'spool';

-- The people of a message. is_own marks addresses of the organization itself.
create table archived_copies (
  archive_id text not null references archived_messages on delete cascade,
  role text not null check (role in ('sender', 'recipient')),
  address text not null,
  organization_id text not null references organizations on delete cascade,
  is_own boolean not null,
  received_at timestamptz not null,
  primary key (archive_id, role, address)
);

create index archived_copies_of_organization
  on archived_copies (organization_id, address, received_at desc, archive_id desc);
create index archived_copies_address on archived_copies (address);

-- Objects whose rows are gone. A row stays until the storage has confirmed the deletion.
create table archive_deletions (
  id bigint generated always as identity primary key,
  storage_type text not null,
  storage_key text not null,
  spool_id text,
  not_before timestamptz not null default now(),
  created_at timestamptz not null default now()
);

create index archive_deletions_due on archive_deletions (not_before, id);
create index archive_deletions_key on archive_deletions (storage_key);

create table archive_jobs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  kind text not null check (kind in ('import', 'rekey')),
  email text,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
  total integer,
  done integer not null default 0,
  added integer not null default 0,
  failed integer not null default 0,
  position text not null default '',
  error text,
  created_by text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column archive_jobs.position is 'the last finished folder or object; an interrupted job goes on after it';

create index archive_jobs_of_organization on archive_jobs (organization_id, created_at desc);
create index archive_jobs_open on archive_jobs (created_at) where status in ('queued', 'running');

-- Runs that read a sample of the archive back and compare it with its hashes.
create table archive_checks (
  id text primary key,
  begun_at timestamptz not null,
  finished_at timestamptz,
  checked integer not null default 0,
  damaged integer not null default 0
);

create index archive_checks_newest on archive_checks (begun_at desc);

-- Words of subject (A), sender (B) and recipients (C). The parts of an address are words too.
create function archive_words(p_subject text, p_sender text, p_recipients text[]) returns tsvector
language sql immutable as $$
  select setweight(to_tsvector('simple', coalesce(p_subject, '')), 'A')
    || setweight(to_tsvector('simple', p_sender || ' ' || translate(p_sender, '@._+-', '     ')), 'B')
    || setweight(to_tsvector('simple', array_to_string(p_recipients, ' ') || ' '
      || translate(array_to_string(p_recipients, ' '), '@._+-', '     ')), 'C')
$$;

-- An upload may be under way for a file of the spool, so its object is deleted later.
create function delete_archived_object() returns trigger language plpgsql as $$
begin
  insert into archive_deletions (storage_type, storage_key, spool_id, not_before)
  values (old.storage_type, old.storage_key, old.spool_id,
    case old.storage_type when 'spool' then now() + interval '3 minutes' else now() end);
  return null;
end $$;

create trigger archived_messages_deleted
  after delete on archived_messages
  for each row execute function delete_archived_object();

create trigger archived_messages_wake after insert on archived_messages
  for each statement execute function notify_chore('archive-drain');
create trigger archive_deletions_wake after insert on archive_deletions
  for each statement execute function notify_chore('archive-deletions');
create trigger archive_jobs_wake after insert on archive_jobs
  for each statement execute function notify_chore('archive-jobs');
