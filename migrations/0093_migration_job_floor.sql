-- Which job worked on a folder last, and the UID from which on what the target holds is its own
-- work. Copies below it that nobody had written down are an earlier job's: this one does not count them.
alter table migration_folders
  add column job_id text,
  add column job_floor bigint not null default 0;
