-- Backups as whoever makes them reports them; one row a run and host.
create table backup_runs (
  id bigint generated always as identity primary key,
  backup_id text not null,
  hostname text not null,
  backup_type text not null,
  target text not null,
  status text not null check (status in ('running', 'completed', 'failed')),
  size_bytes bigint,
  storage_path text,
  checksum text,
  encrypted boolean not null,
  error_message text,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  unique (backup_id, hostname)
);
create index backup_runs_started on backup_runs (started_at, id);
create index backup_runs_host on backup_runs (hostname, status, completed_at);
