-- Facts about the installation itself.
create table settings (
  name text primary key,
  value bytea not null
);

-- When repeated work was last begun, so that several processes do it once.
create table job_runs (
  name text primary key,
  begun_at timestamptz not null
);
