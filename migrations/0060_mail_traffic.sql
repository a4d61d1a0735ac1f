-- Mail added up, so that a year of a busy domain is a few hundred rows. A quarter of an hour is the
-- smallest step: every time zone in use is a whole number of them away from UTC, so that days of any
-- zone can be put together.
create table mail_traffic_quarters (
  organization_id text not null,
  domain text not null,
  bucket timestamptz not null,
  sent integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  deferred integer not null default 0,
  rejected integer not null default 0,
  inbound integer not null default 0,
  inbound_delivered integer not null default 0,
  inbound_bounced integer not null default 0,
  inbound_deferred integer not null default 0,
  inbound_rejected integer not null default 0,
  spam_scores integer not null default 0,
  spam_score_sum double precision not null default 0,
  primary key (organization_id, domain, bucket)
) with (fillfactor = 80);

comment on table mail_traffic_quarters is 'rows of mail_log by the domain of the sender (sent and its parts) and of the recipient (inbound)';

create table mail_traffic_days (like mail_traffic_quarters including all) with (fillfactor = 80);

-- Whole organizations; the empty one is the platform.
create table mail_traffic_hours (
  like mail_traffic_quarters including defaults including constraints,
  primary key (organization_id, bucket)
) with (fillfactor = 80);
alter table mail_traffic_hours drop column domain;

-- Over all domains at once.
create index mail_traffic_quarters_by_bucket on mail_traffic_quarters using brin (bucket);
create index mail_traffic_days_by_bucket on mail_traffic_days using brin (bucket);

-- Whoever stores mail only adds rows here, in the same transaction: counts are right the moment the
-- mail is there, and nobody waits for anybody. Now and then they are moved into the tables above;
-- readers take both together.
create table mail_traffic_pending (
  id bigint generated always as identity primary key,
  like mail_traffic_quarters including defaults including constraints
);
create index mail_traffic_pending_of_domain on mail_traffic_pending (organization_id, domain);

create function quarter_of(p_time timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select date_bin('15 minutes', p_time, '2000-01-01 00:00:00+00')
$$;

-- Of each message twice where both ends are hosted here: once as sent, once as received.
create function count_mail_traffic() returns trigger language plpgsql as $$
begin
  insert into mail_traffic_pending (organization_id, domain, bucket, sent, delivered, bounced, deferred,
    rejected, inbound, inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected,
    spam_scores, spam_score_sum)
  select organization_id, domain, quarter_of("timestamp"),
    count(*) filter (where is_outgoing),
    count(*) filter (where is_outgoing and status in ('sent', 'delivered')),
    count(*) filter (where is_outgoing and status = 'bounced'),
    count(*) filter (where is_outgoing and status = 'deferred'),
    count(*) filter (where is_outgoing and status = 'rejected'),
    count(*) filter (where not is_outgoing),
    count(*) filter (where not is_outgoing and status in ('sent', 'delivered')),
    count(*) filter (where not is_outgoing and status = 'bounced'),
    count(*) filter (where not is_outgoing and status = 'deferred'),
    count(*) filter (where not is_outgoing and status = 'rejected'),
    count(spam_score) filter (where is_outgoing),
    coalesce(sum(spam_score) filter (where is_outgoing), 0)
  from (
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, true as is_outgoing
    from added
    join domains on domains.domain = lower(split_part(sender, '@', -1))
      and domains.organization_id = added.organization_id
    union all
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, false
    from added
    join domains on domains.domain = lower(split_part(recipient, '@', -1))
  ) as counted
  group by 1, 2, 3;
  return null;
end $$;

create trigger mail_log_count
  after insert on mail_log
  referencing new table as added
  for each statement execute function count_mail_traffic();

-- Moves what is pending, oldest first; answers how many rows. One at a time: the others find nothing
-- to do. What a deleted organization left behind counts for the platform only.
create function fold_mail_traffic(p_limit integer) returns integer
language plpgsql as $$
declare
  moved integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold_mail_traffic', 0)) then
    return 0;
  end if;
  with taken as (
    delete from mail_traffic_pending
    where id in (select id from mail_traffic_pending order by id limit p_limit)
    returning *
  ), owned as (
    select * from taken
    where exists (select from organizations where organizations.id = taken.organization_id)
  ), into_quarters as (
    insert into mail_traffic_quarters as kept
    select organization_id, domain, bucket, sum(sent), sum(delivered), sum(bounced), sum(deferred),
      sum(rejected), sum(inbound), sum(inbound_delivered), sum(inbound_bounced), sum(inbound_deferred),
      sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum)
    from owned group by 1, 2, 3
    on conflict (organization_id, domain, bucket) do update set
      sent = kept.sent + excluded.sent,
      delivered = kept.delivered + excluded.delivered,
      bounced = kept.bounced + excluded.bounced,
      deferred = kept.deferred + excluded.deferred,
      rejected = kept.rejected + excluded.rejected,
      inbound = kept.inbound + excluded.inbound,
      inbound_delivered = kept.inbound_delivered + excluded.inbound_delivered,
      inbound_bounced = kept.inbound_bounced + excluded.inbound_bounced,
      inbound_deferred = kept.inbound_deferred + excluded.inbound_deferred,
      inbound_rejected = kept.inbound_rejected + excluded.inbound_rejected,
      spam_scores = kept.spam_scores + excluded.spam_scores,
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum
  ), into_days as (
    insert into mail_traffic_days as kept
    select organization_id, domain, date_trunc('day', bucket, 'UTC'), sum(sent), sum(delivered),
      sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered),
      sum(inbound_bounced), sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores),
      sum(spam_score_sum)
    from owned group by 1, 2, 3
    on conflict (organization_id, domain, bucket) do update set
      sent = kept.sent + excluded.sent,
      delivered = kept.delivered + excluded.delivered,
      bounced = kept.bounced + excluded.bounced,
      deferred = kept.deferred + excluded.deferred,
      rejected = kept.rejected + excluded.rejected,
      inbound = kept.inbound + excluded.inbound,
      inbound_delivered = kept.inbound_delivered + excluded.inbound_delivered,
      inbound_bounced = kept.inbound_bounced + excluded.inbound_bounced,
      inbound_deferred = kept.inbound_deferred + excluded.inbound_deferred,
      inbound_rejected = kept.inbound_rejected + excluded.inbound_rejected,
      spam_scores = kept.spam_scores + excluded.spam_scores,
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum
  ), into_hours as (
    insert into mail_traffic_hours as kept (organization_id, bucket, sent, delivered, bounced, deferred,
      rejected, inbound, inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected,
      spam_scores, spam_score_sum)
    select organization_id, date_trunc('hour', bucket), sum(sent), sum(delivered), sum(bounced),
      sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered), sum(inbound_bounced),
      sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum)
    from (
      select * from owned
      union all select id, '', domain, bucket, sent, delivered, bounced, deferred, rejected, inbound,
        inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected, spam_scores,
        spam_score_sum
      from taken
    ) as both_scopes
    group by 1, 2
    on conflict (organization_id, bucket) do update set
      sent = kept.sent + excluded.sent,
      delivered = kept.delivered + excluded.delivered,
      bounced = kept.bounced + excluded.bounced,
      deferred = kept.deferred + excluded.deferred,
      rejected = kept.rejected + excluded.rejected,
      inbound = kept.inbound + excluded.inbound,
      inbound_delivered = kept.inbound_delivered + excluded.inbound_delivered,
      inbound_bounced = kept.inbound_bounced + excluded.inbound_bounced,
      inbound_deferred = kept.inbound_deferred + excluded.inbound_deferred,
      inbound_rejected = kept.inbound_rejected + excluded.inbound_rejected,
      spam_scores = kept.spam_scores + excluded.spam_scores,
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum
  )
  select count(*) into moved from taken;
  return moved;
end $$;

-- Whoever gets the id of an organization next begins with nothing.
create function forget_mail_traffic() returns trigger language plpgsql as $$
begin
  delete from mail_traffic_pending where organization_id = old.id;
  delete from mail_traffic_quarters where organization_id = old.id;
  delete from mail_traffic_days where organization_id = old.id;
  delete from mail_traffic_hours where organization_id = old.id;
  return null;
end $$;

create trigger organizations_forget_mail_traffic
  after delete on organizations
  for each row execute function forget_mail_traffic();

-- Counts all rows anew, into tables that are empty.
create function count_all_mail_traffic() returns void language plpgsql as $$
begin
  create temporary table counted on commit drop as
  select organization_id, domain, quarter_of("timestamp") as bucket,
    count(*) filter (where is_outgoing) as sent,
    count(*) filter (where is_outgoing and status in ('sent', 'delivered')) as delivered,
    count(*) filter (where is_outgoing and status = 'bounced') as bounced,
    count(*) filter (where is_outgoing and status = 'deferred') as deferred,
    count(*) filter (where is_outgoing and status = 'rejected') as rejected,
    count(*) filter (where not is_outgoing) as inbound,
    count(*) filter (where not is_outgoing and status in ('sent', 'delivered')) as inbound_delivered,
    count(*) filter (where not is_outgoing and status = 'bounced') as inbound_bounced,
    count(*) filter (where not is_outgoing and status = 'deferred') as inbound_deferred,
    count(*) filter (where not is_outgoing and status = 'rejected') as inbound_rejected,
    count(spam_score) filter (where is_outgoing) as spam_scores,
    coalesce(sum(spam_score) filter (where is_outgoing), 0) as spam_score_sum
  from (
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, true as is_outgoing
    from mail_log
    join domains on domains.domain = lower(split_part(sender, '@', -1))
      and domains.organization_id = mail_log.organization_id
    union all
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, false
    from mail_log
    join domains on domains.domain = lower(split_part(recipient, '@', -1))
  ) as known
  group by 1, 2, 3;

  insert into mail_traffic_quarters select * from counted order by bucket;

  insert into mail_traffic_days
  select organization_id, domain, date_trunc('day', bucket, 'UTC'), sum(sent), sum(delivered),
    sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered), sum(inbound_bounced),
    sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum)
  from counted group by 1, 2, 3 order by 3;

  insert into mail_traffic_hours
  select case when grouping(organization_id) = 1 then '' else organization_id end, hour, sum(sent),
    sum(delivered), sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered),
    sum(inbound_bounced), sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores),
    sum(spam_score_sum)
  from (select *, date_trunc('hour', bucket) as hour from counted) as counted_by_hour
  group by grouping sets ((organization_id, hour), (hour)) order by hour;
end $$;

-- What is there already. The trigger's own lock keeps new rows out until both are committed.
select count_all_mail_traffic();
