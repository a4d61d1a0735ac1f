-- Days of the mail log that are copied to ClickHouse, or have moved there. A day is in PostgreSQL until
-- `moved_at` is set, which happens in the transaction that drops its partition.
create table mail_log_moves (
  day date primary key,
  copy_id text,
  row_count bigint,
  copied_at timestamptz,
  moved_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column mail_log_moves.copy_id is
  'the partition in ClickHouse; a copy that no row names is of an interrupted move';

-- Figures over the rows of days that have moved, so that lists of aliases and the usage of credentials need
-- no look into ClickHouse. `name` is the id of an alias or of a credential, or a domain that has sent mail.
create table mail_log_day_counts (
  kind text not null check (kind in ('alias', 'credential', 'domain')),
  name text not null,
  organization_id text not null default '',
  status text not null,
  day date not null references mail_log_moves on delete cascade,
  messages bigint not null,
  primary key (kind, name, organization_id, status, day)
);

create index mail_log_day_counts_of_day on mail_log_day_counts (day);

-- Counts the rows of one day, which is a partition in the schema `days`.
create function count_mail_log_day(p_partition text, p_day date) returns void
language plpgsql as $$
begin
  execute format($query$
    insert into mail_log_day_counts (kind, name, organization_id, status, day, messages)
    select 'credential', credential_id, '', status, $1, count(*)
    from days.%1$I where credential_id is not null and not superseded group by 2, 4
    union all
    select 'domain', split_part(lower(sender), '@', -1), organization_id, status, $1, count(*)
    from days.%1$I where status = 'delivered' and organization_id is not null group by 2, 3, 4
    union all
    select 'alias', aliases.id, '', 'delivered', $1,
      count(distinct coalesce(log.message_id, log.queue_id, log.id))
    from aliases join days.%1$I as log
      on (log.recipient = aliases.source or log.original_recipient = aliases.source)
        and log.status in ('sent', 'delivered')
        and (log.organization_id is null or log.organization_id = aliases.organization_id)
    group by 2
  $query$, p_partition) using p_day;
end $$;
