-- Mail migration over IMAP, from and to other servers.

-- Two mailboxes between which mail is copied. The copied messages are stored for the pair and not for the
-- job, so that a later job continues where the last one ended.
create table migration_pairs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  -- Identifies the two mailboxes: direction, host, port, logins.
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
  -- The mailbox on this host.
  mailbox text not null,
  -- The remote server and the login there.
  remote_host text not null,
  remote_port integer not null,
  remote_ssl boolean not null,
  remote_tls_verify boolean not null,
  remote_username text not null,
  remote_auth text not null check (remote_auth in ('password', 'oauth2')),
  folder_mapping jsonb not null default '[]',
  exclude_folders jsonb not null default '[]',
  webhook_url text,
  -- Passwords of both sides, sealed. Kept until credentials_until after the end, for follow-up jobs.
  credentials bytea,
  credentials_until timestamptz,
  total_messages bigint not null default 0,
  migrated_messages bigint not null default 0,
  failed_messages bigint not null default 0,
  current_folder text,
  speed double precision not null default 0,
  error text,
  -- The lease of the daemon that runs the job.
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (credentials is null or status <> 'cancelled')
);

create index migration_jobs_of_organization on migration_jobs (organization_id, created_at desc, id desc);
create index migration_jobs_by_creation on migration_jobs (created_at desc, id desc);
create index migration_jobs_of_pair on migration_jobs (pair_id);
create index migration_jobs_of_parent on migration_jobs (parent_job_id);
create index migration_jobs_with_credentials on migration_jobs (credentials_until) where credentials_until is not null;
create index migration_jobs_open on migration_jobs (created_at) where status in ('pending', 'running');

-- Cancels the jobs of a deleted organization and deletes their credentials.
create function orphan_migration_job() returns trigger language plpgsql as $$
begin
  new.credentials := null;
  new.credentials_until := null;
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

-- Notifies the daemons of new jobs and of jobs to stop. The trigger is per row: a per-statement trigger also
-- fires when no row changes, and idle daemons would wake each other without end.
create function notify_migration() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_migration', '');
  return null;
end $$;

create trigger migration_jobs_notify_new
  after insert on migration_jobs
  for each row execute function notify_migration();
create trigger migration_jobs_notify
  after update of status on migration_jobs
  for each row when (old.status is distinct from new.status and new.status <> 'running')
  execute function notify_migration();

create table migration_errors (
  id bigint generated always as identity primary key,
  job_id text not null references migration_jobs on delete cascade,
  -- The job that retries this message.
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

-- job_id is the last job that worked on the folder. Messages in the target with a UID of at least job_floor
-- were copied by this job; unrecorded copies below it belong to earlier jobs and are not counted.
create table migration_folders (
  id bigint generated always as identity primary key,
  pair_id text not null references migration_pairs on delete cascade,
  source_path text not null,
  target_path text not null,
  source_validity bigint not null,
  target_validity bigint not null,
  -- Messages in the target from this UID on may be unrecorded copies.
  target_floor bigint not null,
  -- State of the source after a complete copy; an equal state means nothing new.
  settled text,
  job_id text,
  job_floor bigint not null default 0,
  unique (pair_id, source_path)
);

create table migration_messages (
  folder_id bigint not null references migration_folders on delete cascade,
  source_uid bigint not null,
  -- Null when the server does not support UIDPLUS.
  target_uid bigint,
  -- Flags in the source at the last copy.
  flags text not null,
  primary key (folder_id, source_uid)
);

-- Pending notifications to the webhook of a job.
create table migration_notices (
  id text primary key,
  job_id text not null references migration_jobs on delete cascade,
  envelope jsonb not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

create index migration_notices_of_job on migration_notices (job_id);
create index migration_notices_due on migration_notices (due_at);
