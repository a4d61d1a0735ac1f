-- What recipients did with mail, added up like the mail itself. `last_opened` and `last_clicked` count
-- the recipients who did so for the last time then: whose last time is not before the start of a
-- period that goes on until now did so in it, so distinct recipients are a sum too.
create table engagement_quarters (
  organization_id text not null,
  domain text not null,
  bucket timestamptz not null,
  opened integer not null default 0,
  clicked integer not null default 0,
  unsubscribed integer not null default 0,
  complained integer not null default 0,
  last_opened integer not null default 0,
  last_clicked integer not null default 0,
  primary key (organization_id, domain, bucket)
) with (fillfactor = 80);

create table engagement_days (like engagement_quarters including all) with (fillfactor = 80);

-- Who opened or clicked, by day: for the last time above, and for periods that are over.
create table engagement_recipients (
  organization_id text not null,
  domain text not null,
  event_type text not null check (event_type in ('opened', 'clicked')),
  recipient_key bigint not null,
  day date not null,
  last_quarter timestamptz not null,
  primary key (organization_id, domain, event_type, recipient_key, day)
);

comment on column engagement_recipients.recipient_key is 'of the hash of the address';

create index engagement_recipients_by_day on engagement_recipients (organization_id, domain, event_type, day);
create index engagement_recipients_of_all_by_day on engagement_recipients using brin (day);
create index engagement_quarters_by_bucket on engagement_quarters using brin (bucket);
create index engagement_days_by_bucket on engagement_days using brin (bucket);

create table engagement_pending (
  id bigint generated always as identity primary key,
  organization_id text not null,
  domain text not null,
  bucket timestamptz not null,
  event_type text not null check (event_type in ('opened', 'clicked', 'unsubscribed', 'complained')),
  recipient_key bigint not null
);
create index engagement_pending_of_domain on engagement_pending (organization_id, domain);

create function fold_engagement(p_limit integer) returns integer
language plpgsql as $$
declare
  moved integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold_engagement', 0)) then
    return 0;
  end if;
  with taken as (
    delete from engagement_pending
    where id in (select id from engagement_pending order by id limit p_limit)
    returning *
  ), owned as (
    select * from taken
    where exists (select from organizations where organizations.id = taken.organization_id)
  ), seen as (
    select organization_id, domain, event_type, recipient_key, max(bucket) as latest,
      (select last_quarter from engagement_recipients as known
       where known.organization_id = owned.organization_id and known.domain = owned.domain
         and known.event_type = owned.event_type and known.recipient_key = owned.recipient_key
       order by day desc limit 1) as previous
    from owned where event_type in ('opened', 'clicked')
    group by 1, 2, 3, 4
  ), changes as (
    select organization_id, domain, bucket,
      (event_type = 'opened')::int as opened, (event_type = 'clicked')::int as clicked,
      (event_type = 'unsubscribed')::int as unsubscribed,
      (event_type = 'complained')::int as complained, 0 as last_opened, 0 as last_clicked
    from owned
    union all
    select organization_id, domain, latest, 0, 0, 0, 0,
      (event_type = 'opened')::int, (event_type = 'clicked')::int
    from seen where previous is null or previous < latest
    union all
    select organization_id, domain, previous, 0, 0, 0, 0,
      -(event_type = 'opened')::int, -(event_type = 'clicked')::int
    from seen where previous < latest
  ), into_quarters as (
    insert into engagement_quarters as kept
    select organization_id, domain, bucket, sum(opened), sum(clicked), sum(unsubscribed),
      sum(complained), sum(last_opened), sum(last_clicked)
    from changes group by 1, 2, 3
    on conflict (organization_id, domain, bucket) do update set
      opened = kept.opened + excluded.opened,
      clicked = kept.clicked + excluded.clicked,
      unsubscribed = kept.unsubscribed + excluded.unsubscribed,
      complained = kept.complained + excluded.complained,
      last_opened = kept.last_opened + excluded.last_opened,
      last_clicked = kept.last_clicked + excluded.last_clicked
  ), into_days as (
    insert into engagement_days as kept
    select organization_id, domain, date_trunc('day', bucket, 'UTC'), sum(opened), sum(clicked),
      sum(unsubscribed), sum(complained), sum(last_opened), sum(last_clicked)
    from changes group by 1, 2, 3
    on conflict (organization_id, domain, bucket) do update set
      opened = kept.opened + excluded.opened,
      clicked = kept.clicked + excluded.clicked,
      unsubscribed = kept.unsubscribed + excluded.unsubscribed,
      complained = kept.complained + excluded.complained,
      last_opened = kept.last_opened + excluded.last_opened,
      last_clicked = kept.last_clicked + excluded.last_clicked
  ), into_recipients as (
    insert into engagement_recipients as kept
    select organization_id, domain, event_type, recipient_key, (bucket at time zone 'UTC')::date,
      max(bucket)
    from owned where event_type in ('opened', 'clicked')
    group by 1, 2, 3, 4, 5
    on conflict (organization_id, domain, event_type, recipient_key, day) do update set
      last_quarter = greatest(kept.last_quarter, excluded.last_quarter)
  )
  select count(*) into moved from taken;
  return moved;
end $$;

create function forget_engagement() returns trigger language plpgsql as $$
begin
  delete from engagement_pending where organization_id = old.id;
  delete from engagement_quarters where organization_id = old.id;
  delete from engagement_days where organization_id = old.id;
  delete from engagement_recipients where organization_id = old.id;
  return null;
end $$;

create trigger organizations_forget_engagement
  after delete on organizations
  for each row execute function forget_engagement();
