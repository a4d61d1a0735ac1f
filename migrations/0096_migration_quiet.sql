-- A statement that changes no row fires a trigger for each statement too: daemons that looked for jobs
-- and found none told each other to look again, without end. Only rows count, and only news for others.
drop trigger migration_jobs_tell on migration_jobs;

create trigger migration_jobs_tell_new
  after insert on migration_jobs
  for each row execute function tell_migration();

create trigger migration_jobs_tell
  after update of status on migration_jobs
  for each row when (old.status is distinct from new.status and new.status <> 'running')
  execute function tell_migration();
