-- Messages that a place of the archive has taken since the beginning. Sequences, because a row with a count
-- would make messages wait for each other.
create sequence archive_taken_spool;
create sequence archive_taken_s3;
create sequence archive_taken_local;

alter table archive_jobs add column unfinished_folder jsonb;

comment on column archive_jobs.unfinished_folder is
  'of an import: path, uid_validity and the last uid of the folder after position';
