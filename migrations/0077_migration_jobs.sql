-- Mail that is brought in from other servers, or taken to them, over IMAP.

-- Two mailboxes between which mail is copied. What was copied is remembered here and not at the job:
-- whoever copies again, after a kill, a cancellation or a week, goes on where the last one ended.
create table migration_pairs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  -- Which two they are, as one text: direction, host, port, logins.
  name text not null,
  unique (organization_id, name)
);

create table migration_jobs (
  id text primary key,
  organization_id text references organizations on delete set null,
  pair_id text references migration_pairs on delete set null,
  parent_job_id text references migration_jobs on delete set null,
  direction text not null check (direction in ('import', 'export')),
  status text not null default 'pending'
    check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  is_delta boolean not null default false,
  is_retry boolean not null default false,
  -- The mailbox of this host.
  mailbox text not null,
  -- The other server, with the login there.
  remote_host text not null,
  remote_port integer not null,
  remote_ssl boolean not null,
  remote_tls_verify boolean not null,
  remote_username text not null,
  remote_auth text not null check (remote_auth in ('password', 'oauth2')),
  folder_mapping jsonb not null default '[]',
  exclude_folders jsonb not null default '[]',
  webhook_url text,
  -- Passwords of both sides, sealed; gone when the job has ended.
  credentials bytea,
  total_messages bigint not null default 0,
  migrated_messages bigint not null default 0,
  failed_messages bigint not null default 0,
  current_folder text,
  speed double precision not null default 0,
  error text,
  -- The daemon that works on it, and until when that is believed without a sign of life.
  claimed_by text,
  claimed_until timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (credentials is null or status in ('pending', 'running'))
);

create index migration_jobs_of_organization on migration_jobs (organization_id, created_at desc, id desc);
create index migration_jobs_by_creation on migration_jobs (created_at desc, id desc);
create index migration_jobs_of_pair on migration_jobs (pair_id);
create index migration_jobs_of_parent on migration_jobs (parent_job_id);
create index migration_jobs_open on migration_jobs (created_at) where status in ('pending', 'running');

-- Who owned a job may be gone; what it knew of the other server goes with them.
create function orphan_migration_job() returns trigger language plpgsql as $$
begin
  new.credentials := null;
  if new.status in ('pending', 'running') then
    new.status := 'cancelled';
    new.completed_at := now();
  end if;
  return new;
end $$;

create trigger migration_jobs_orphan
  before update of organization_id on migration_jobs
  for each row
  when (old.organization_id is not null and new.organization_id is null)
  execute function orphan_migration_job();

-- The daemons are told of new jobs, and of jobs that are to stop.
create function tell_migration() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_migration', '');
  return null;
end $$;

create trigger migration_jobs_tell
  after insert or update of status on migration_jobs
  for each statement execute function tell_migration();

create table migration_errors (
  id bigint generated always as identity primary key,
  job_id text not null references migration_jobs on delete cascade,
  -- The job that tries this message again.
  retry_job_id text references migration_jobs on delete set null,
  folder text not null,
  message_uid text not null default '',
  message_id text not null default '',
  error_type text not null check (length(error_type) <= 50),
  error_message text not null,
  retryable boolean not null default true,
  retried boolean not null default false,
  created_at timestamptz not null default now(),
  unique (job_id, folder, message_uid)
);

create index migration_errors_of_retry on migration_errors (retry_job_id);

create table migration_folders (
  id bigint generated always as identity primary key,
  pair_id text not null references migration_pairs on delete cascade,
  source_path text not null,
  target_path text not null,
  source_validity bigint not null,
  target_validity bigint not null,
  -- From this UID on, the target may hold copies that nobody has written down.
  target_floor bigint not null,
  -- What the source said when everything in it had been copied; nothing new while it says the same.
  settled text,
  unique (pair_id, source_path)
);

create table migration_messages (
  folder_id bigint not null references migration_folders on delete cascade,
  source_uid bigint not null,
  -- Unknown where the server does not tell (no UIDPLUS).
  target_uid bigint,
  -- As the source had them when they were carried over last.
  flags text not null,
  primary key (folder_id, source_uid)
);

-- What the webhook of a job is still to be told.
create table migration_notices (
  id text primary key,
  job_id text not null references migration_jobs on delete cascade,
  envelope jsonb not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now()
);

create index migration_notices_of_job on migration_notices (job_id);
create index migration_notices_due on migration_notices (due_at);
