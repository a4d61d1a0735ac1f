-- migrate: incompatible
-- Divides the mail log into days: a day is dropped as a whole, and a search reads the days it asks for. The
-- rows that are there stay where they are, in one partition that ends with the day of the upgrade.
create schema if not exists days;

-- Makes the partition of a day, in UTC, and moves its rows from the default partition, which takes what has
-- no partition of its own. Returns false when there is one that covers the day.
create function make_day(p_table text, p_column text, p_day date) returns boolean
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
  -- Rows for this day wait until the partition is there.
  execute format('lock table days.%I in share row exclusive mode', fallback);
  execute format(
    'with moved as (delete from days.%I where %I >= %L and %I < %L returning *)
     insert into days.%I select * from moved',
    fallback, p_column, day_begin, p_column, day_end, partition);
  execute format('alter table %I attach partition days.%I for values from (%L) to (%L)',
    p_table, partition, day_begin, day_end);
  return true;
end $$;

-- The partitions with their bounds; the default ones have none and are not listed.
create view day_partitions as
select parent.relname::text as table_name, child.relname::text as partition_name,
  case when bounds[1] = 'MINVALUE' then '-infinity' else trim(bounds[1], '''') end::timestamptz as begins_at,
  trim(bounds[2], '''')::timestamptz as ends_at
from pg_inherits
join pg_class parent on parent.oid = inhparent
join pg_class child on child.oid = inhrelid
join pg_namespace space on space.oid = child.relnamespace
cross join lateral regexp_match(pg_get_expr(child.relpartbound, child.oid),
  '^FOR VALUES FROM \((.*)\) TO \((.*)\)$') as bounds
where space.nspname = 'days' and child.relkind = 'r' and bounds is not null;

alter table mail_log set schema days;
alter table days.mail_log rename to mail_log_before;
drop trigger mail_log_count on days.mail_log_before;
alter table days.mail_log_before drop constraint mail_log_pkey;
-- The primary key of the new table begins with the time.
drop index days.mail_log_by_timestamp;

create table mail_log (
  like days.mail_log_before including defaults including constraints including comments
) partition by range ("timestamp");

-- An id is derived from the time among other things, so equal ids are in the same partition, and reading a
-- log twice still adds no rows.
alter table mail_log add primary key ("timestamp", id);

alter index days.mail_log_of_credential rename to mail_log_before_of_credential;
alter index days.mail_log_of_recipient rename to mail_log_before_of_recipient;
alter index days.mail_log_of_organization rename to mail_log_before_of_organization;
alter index days.mail_log_of_message rename to mail_log_before_of_message;
alter index days.mail_log_of_sender rename to mail_log_before_of_sender;
alter index days.mail_log_of_login rename to mail_log_before_of_login;
alter index days.mail_log_of_original_recipient rename to mail_log_before_of_original_recipient;

-- The definitions are those of the indexes above, which become parts of these.
create index mail_log_of_credential on mail_log (credential_id, "timestamp", status)
  where credential_id is not null;
create index mail_log_of_recipient on mail_log (recipient, "timestamp");
create index mail_log_of_organization on mail_log (organization_id, "timestamp");
create index mail_log_of_message on mail_log (message_id) where message_id is not null;
create index mail_log_of_sender on mail_log (sender, "timestamp");
create index mail_log_of_login on mail_log (lower(sasl_username), "timestamp")
  where sasl_username is not null;
create index mail_log_of_original_recipient on mail_log (original_recipient, "timestamp")
  where original_recipient is not null;

create table days.mail_log_default partition of mail_log default;

-- An empty table needs no partition. Otherwise only the index of the primary key is made.
do $$
declare
  bound timestamptz;
begin
  select date_trunc('day', greatest(max("timestamp"), now()), 'UTC') + interval '1 day' into bound
  from days.mail_log_before;
  if exists (select from days.mail_log_before) then
    execute format('alter table mail_log attach partition days.mail_log_before
      for values from (minvalue) to (%L)', bound);
  else
    drop table days.mail_log_before;
  end if;
end $$;

create trigger mail_log_count
  after insert on mail_log
  referencing new table as added
  for each statement execute function count_mail_traffic();

-- As before, and in the days since the oldest of these attempts only.
drop function supersede_mail(text[]);
create function supersede_mail(p_ids text[], p_recipients text[], p_since timestamptz) returns void
language sql as $$
  with changed as (
    update mail_log set superseded = true
    from unnest(p_ids, p_recipients) as earlier (id, recipient)
    where mail_log.recipient = earlier.recipient and mail_log.id = earlier.id
      and "timestamp" >= p_since and status = 'deferred' and not superseded
    returning mail_log.*
  )
  insert into mail_traffic_pending (organization_id, domain, bucket, sent, deferred, inbound,
    inbound_deferred, spam_scores, spam_score_sum)
  select organization_id, domain, quarter_of("timestamp"),
    -count(*) filter (where is_outgoing), -count(*) filter (where is_outgoing),
    -count(*) filter (where not is_outgoing), -count(*) filter (where not is_outgoing),
    -count(spam_score) filter (where is_outgoing),
    -coalesce(sum(spam_score) filter (where is_outgoing), 0)
  from (
    select domains.organization_id, domains.domain, "timestamp", spam_score, true as is_outgoing
    from changed
    join domains on domains.domain = lower(split_part(sender, '@', -1))
      and domains.organization_id = changed.organization_id and changed.sasl_username is not null
      and domains.ownership_verified_at is not null
      and domains.created_at < "timestamp" + interval '1 minute'
    union all
    select domains.organization_id, domains.domain, "timestamp", spam_score, false
    from changed
    join domains on domains.domain = lower(split_part(recipient, '@', -1))
      and domains.ownership_verified_at is not null
      and domains.created_at < "timestamp" + interval '1 minute'
  ) as counted
  group by 1, 2, 3
$$;
