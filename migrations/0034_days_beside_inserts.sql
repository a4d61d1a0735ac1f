-- As in 0022, with a lock on the table itself. An INSERT chooses the partition of its row before it waits for
-- the lock of that partition: one that had chosen the default partition failed when the day was there.
create or replace function make_day(p_table text, p_column text, p_day date) returns boolean
language plpgsql as $$
declare
  partition text := p_table || to_char(p_day, '_YYYYMMDD');
  fallback text := p_table || '_default';
  day_begin timestamptz := p_day::timestamp at time zone 'UTC';
  day_end timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtextextended('days of ' || p_table, 0));
  if exists (
    select from day_partitions where table_name = p_table
      and begins_at < day_end and ends_at > day_begin
  ) then
    return false;
  end if;
  execute format('create table days.%I (like %I including all)', partition, p_table);
  -- Rows wait until the partition is there, and choose theirs afterwards.
  execute format('lock table only %I in share row exclusive mode', p_table);
  execute format('lock table days.%I in share row exclusive mode', fallback);
  execute format(
    'with moved as (delete from days.%I where %I >= %L and %I < %L returning *)
     insert into days.%I select * from moved',
    fallback, p_column, day_begin, p_column, day_end, partition);
  execute format('alter table %I attach partition days.%I for values from (%L) to (%L)',
    p_table, partition, day_begin, day_end);
  return true;
end $$;
