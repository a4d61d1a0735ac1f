-- Mail counts, so that a year of a busy domain is a few hundred rows. The smallest step is a quarter of an
-- hour: the offset of every time zone is a multiple of it, so the days of any zone can be added up.
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
  attempts integer not null default 0,
  primary key (organization_id, domain, bucket)
) with (fillfactor = 80);

comment on table mail_traffic_quarters is
  'messages by the domain of the sender (sent and its parts) and of the recipient (inbound), each at the time of its last state';
comment on column mail_traffic_quarters.attempts is 'attempts to deliver sent messages, with retries';

-- For sums over all domains.
create index mail_traffic_quarters_by_bucket on mail_traffic_quarters using brin (bucket);

create table mail_traffic_days (
  like mail_traffic_quarters including defaults,
  primary key (organization_id, domain, bucket)
) with (fillfactor = 80);

create index mail_traffic_days_by_bucket on mail_traffic_days using brin (bucket);

-- Sums of whole organizations; the empty id is the platform.
create table mail_traffic_hours (
  organization_id text not null,
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
  attempts integer not null default 0,
  primary key (organization_id, bucket)
) with (fillfactor = 80);

-- New counts are inserted here in the transaction that stores the mail, so that they are exact at once and
-- writers do not wait for each other. fold_mail_traffic moves them into the tables above; readers add both.
create table mail_traffic_pending (
  id bigint generated always as identity primary key,
  like mail_traffic_quarters including defaults
);

create index mail_traffic_pending_of_domain on mail_traffic_pending (organization_id, domain);

create function quarter_of(p_time timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select date_bin('15 minutes', p_time, '2000-01-01 00:00:00+00')
$$;

-- Counts a message twice when both ends are hosted here: as sent and as received.
create function count_mail_traffic() returns trigger language plpgsql as $$
begin
  insert into mail_traffic_pending (organization_id, domain, bucket, sent, delivered, bounced, deferred,
    rejected, inbound, inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected,
    spam_scores, spam_score_sum, attempts)
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
    count(spam_score) filter (where is_outgoing or status in ('sent', 'delivered')),
    coalesce(sum(spam_score) filter (where is_outgoing or status in ('sent', 'delivered')), 0),
    count(*) filter (where is_outgoing)
  from (
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, true as is_outgoing
    from added
    join domains on domains.domain = lower(split_part(sender, '@', -1))
      and domains.organization_id = added.organization_id and added.sasl_username is not null
      and domains.ownership_verified_at is not null
    union all
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, false
    from added
    join domains on domains.domain = lower(split_part(recipient, '@', -1))
      and domains.ownership_verified_at is not null
  ) as counted
  group by 1, 2, 3;
  return null;
end $$;

create trigger mail_log_count
  after insert on mail_log
  referencing new table as added
  for each statement execute function count_mail_traffic();

-- Marks deferred attempts that a later attempt followed, and takes them out of the counts, so that each
-- message counts once, by its last state. Counts of an earlier owner of the domain stay as they are.
create function supersede_mail(p_ids text[]) returns void language sql as $$
  with changed as (
    update mail_log set superseded = true
    where id = any(p_ids) and status = 'deferred' and not superseded
    returning *
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

-- Moves pending counts, oldest first, and returns the number of rows. Only one caller at a time moves rows.
-- Counts of a deleted organization go to the platform only.
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
      sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum), sum(attempts)
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
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum,
      attempts = kept.attempts + excluded.attempts
  ), into_days as (
    insert into mail_traffic_days as kept
    select organization_id, domain, date_trunc('day', bucket, 'UTC'), sum(sent), sum(delivered),
      sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered),
      sum(inbound_bounced), sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores),
      sum(spam_score_sum), sum(attempts)
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
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum,
      attempts = kept.attempts + excluded.attempts
  ), into_hours as (
    insert into mail_traffic_hours as kept (organization_id, bucket, sent, delivered, bounced, deferred,
      rejected, inbound, inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected,
      spam_scores, spam_score_sum, attempts)
    select organization_id, date_trunc('hour', bucket), sum(sent), sum(delivered), sum(bounced),
      sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered), sum(inbound_bounced),
      sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum),
      sum(attempts)
    from (
      select * from owned
      union all select id, '', domain, bucket, sent, delivered, bounced, deferred, rejected, inbound,
        inbound_delivered, inbound_bounced, inbound_deferred, inbound_rejected, spam_scores,
        spam_score_sum, attempts
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
      spam_score_sum = kept.spam_score_sum + excluded.spam_score_sum,
      attempts = kept.attempts + excluded.attempts
  )
  select count(*) into moved from taken;
  return moved;
end $$;

-- The next organization with this id starts with no counts.
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

-- Counts all rows of mail_log again; the tables must be empty.
create function count_all_mail_traffic() returns void language plpgsql as $$
begin
  create temporary table counted on commit drop as
  select organization_id, domain, quarter_of("timestamp") as bucket,
    count(*) filter (where not superseded and is_outgoing) as sent,
    count(*) filter (where not superseded and is_outgoing and status in ('sent', 'delivered'))
      as delivered,
    count(*) filter (where not superseded and is_outgoing and status = 'bounced') as bounced,
    count(*) filter (where not superseded and is_outgoing and status = 'deferred') as deferred,
    count(*) filter (where not superseded and is_outgoing and status = 'rejected') as rejected,
    count(*) filter (where not superseded and not is_outgoing) as inbound,
    count(*) filter (where not superseded and not is_outgoing and status in ('sent', 'delivered'))
      as inbound_delivered,
    count(*) filter (where not superseded and not is_outgoing and status = 'bounced') as inbound_bounced,
    count(*) filter (where not superseded and not is_outgoing and status = 'deferred') as inbound_deferred,
    count(*) filter (where not superseded and not is_outgoing and status = 'rejected') as inbound_rejected,
    count(spam_score) filter (where not superseded and (is_outgoing or status in ('sent', 'delivered'))) as spam_scores,
    coalesce(sum(spam_score) filter (where not superseded and (is_outgoing or status in ('sent', 'delivered'))), 0) as spam_score_sum,
    count(*) filter (where is_outgoing) as attempts
  from (
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, superseded,
      true as is_outgoing
    from mail_log
    join domains on domains.domain = lower(split_part(sender, '@', -1))
      and domains.organization_id = mail_log.organization_id and mail_log.sasl_username is not null
      and domains.ownership_verified_at is not null
    union all
    select domains.organization_id, domains.domain, "timestamp", status, spam_score, superseded, false
    from mail_log
    join domains on domains.domain = lower(split_part(recipient, '@', -1))
      and domains.ownership_verified_at is not null
  ) as known
  group by 1, 2, 3;

  insert into mail_traffic_quarters select * from counted order by bucket;

  insert into mail_traffic_days
  select organization_id, domain, date_trunc('day', bucket, 'UTC'), sum(sent), sum(delivered),
    sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered), sum(inbound_bounced),
    sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores), sum(spam_score_sum), sum(attempts)
  from counted group by 1, 2, 3 order by 3;

  insert into mail_traffic_hours
  select case when grouping(organization_id) = 1 then '' else organization_id end, hour, sum(sent),
    sum(delivered), sum(bounced), sum(deferred), sum(rejected), sum(inbound), sum(inbound_delivered),
    sum(inbound_bounced), sum(inbound_deferred), sum(inbound_rejected), sum(spam_scores),
    sum(spam_score_sum), sum(attempts)
  from (select *, date_trunc('hour', bucket) as hour from counted) as counted_by_hour
  group by grouping sets ((organization_id, hour), (hour)) order by hour;
end $$;

-- Engagement counts. last_opened and last_clicked count recipients at the time of their last action. For a
-- period that ends now, the sum of these is the number of distinct recipients.
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

create index engagement_quarters_by_bucket on engagement_quarters using brin (bucket);

create table engagement_days (
  like engagement_quarters including defaults,
  primary key (organization_id, domain, bucket)
) with (fillfactor = 80);

create index engagement_days_by_bucket on engagement_days using brin (bucket);
create index engagement_days_complained on engagement_days (bucket) where complained > 0;

-- Recipients by day, for the last actions above and for periods in the past.
create table engagement_recipients (
  organization_id text not null,
  domain text not null,
  event_type text not null check (event_type in ('opened', 'clicked')),
  recipient_key bigint not null,
  day date not null,
  last_quarter timestamptz not null,
  primary key (organization_id, domain, event_type, recipient_key, day)
);

comment on column engagement_recipients.recipient_key is 'derived from the hash of the e-mail address';

create index engagement_recipients_by_day on engagement_recipients (organization_id, domain, event_type, day);
create index engagement_recipients_of_all_by_day on engagement_recipients using brin (day);

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

create table analytics_reports (
  report_id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  report_type text not null,
  period_days integer not null,
  data jsonb not null,
  generated_at timestamptz not null default now()
);

create index analytics_reports_of_organization on analytics_reports (organization_id);
create index analytics_reports_by_age on analytics_reports (generated_at);

create table analytics_schedules (
  schedule_id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  report_type text not null,
  "interval" text not null check ("interval" in ('daily', 'weekly', 'monthly')),
  recipients text[] not null default '{}',
  timezone text not null default 'UTC',
  webhook_url text,
  webhook_secret bytea,
  created_at timestamptz not null default now(),
  due_at timestamptz not null,
  last_run_at timestamptz,
  last_error text,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column analytics_schedules.webhook_secret is 'sealed';

create index analytics_schedules_of_organization on analytics_schedules (organization_id, created_at);
create index analytics_schedules_by_due_at on analytics_schedules (due_at);

-- Reputation of IP addresses that connect to the mail servers or send mail from this host.
create table ip_reputation (
  id text primary key,
  ip_address text not null unique check (length(ip_address) <= 45),
  reputation_score double precision not null default 50 check (reputation_score between 0 and 100),
  total_connections bigint not null default 0,
  total_messages bigint not null default 0,
  spam_count bigint not null default 0,
  bounce_count bigint not null default 0,
  auth_failure_count bigint not null default 0,
  listed_zones text[] not null default '{}',
  block_reason text,
  block_until timestamptz,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 80);

comment on column ip_reputation.listed_zones is
  'DNS block lists that contain the IP address; only our own addresses are looked up';
comment on column ip_reputation.block_until is 'end of a block after failed logins or by an operator';

create index ip_reputation_by_score on ip_reputation (reputation_score, id);
create index ip_reputation_by_last_seen on ip_reputation (last_seen, id);
create index ip_reputation_search on ip_reputation using gin (ip_address gin_trgm_ops);

-- Reputation of a domain by hour, day, week and month in UTC.
create table domain_reputation (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  period_type text not null check (period_type in ('HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY')),
  period_start timestamptz not null,
  period_end timestamptz not null,
  overall_score double precision not null default 50,
  deliverability_score double precision not null default 50,
  engagement_score double precision not null default 50,
  emails_sent bigint not null default 0,
  emails_delivered bigint not null default 0,
  emails_bounced bigint not null default 0,
  emails_complained bigint not null default 0,
  emails_opened bigint not null default 0,
  emails_clicked bigint not null default 0,
  isp_data jsonb,
  trend double precision,
  is_newest boolean not null default true,
  unique (domain_id, period_type, period_start)
);

comment on column domain_reputation.trend is
  'overall_score minus the score of the previous period; null without one';

create index domain_reputation_of_organization on domain_reputation (organization_id);
create index domain_reputation_newest on domain_reputation (period_type, overall_score, id)
  where is_newest;
create index domain_reputation_by_period on domain_reputation (period_type, period_start);

-- The last emitted score, so that each change of the rating emits one event.
create table domain_ratings (
  domain_id text primary key references domains on delete cascade,
  score double precision not null,
  told_at timestamptz not null
);

-- Complaints from feedback loops. The reports themselves are not stored.
create table feedback_loops (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  original_recipient text not null check (length(original_recipient) <= 255),
  complaint_recipient text check (length(complaint_recipient) <= 255),
  isp_name text not null check (length(isp_name) <= 255),
  feedback_type text not null default 'abuse' check (length(feedback_type) <= 50),
  email_id text check (length(email_id) <= 255),
  subject text check (length(subject) <= 1000),
  sender text check (length(sender) <= 255),
  sender_domain text,
  digest text,
  processed boolean not null default false,
  suppression_added boolean not null default false,
  created_at timestamptz not null,
  processed_at timestamptz
);

comment on column feedback_loops.original_recipient is 'empty when the provider hides the recipient';
comment on column feedback_loops.digest is 'digest of the report, to detect duplicates';

create unique index feedback_loops_digest on feedback_loops (organization_id, digest);
create index feedback_loops_by_created_at on feedback_loops (created_at, id);
create index feedback_loops_of_organization on feedback_loops (organization_id, created_at, id);
create index feedback_loops_of_domain on feedback_loops (sender_domain, created_at, id);
create index feedback_loops_search on feedback_loops using gin (sender gin_trgm_ops);
