-- What is known of addresses that connect to the mail servers, and of those that mail leaves from.
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

comment on column ip_reputation.listed_zones is 'block lists of the DNS that have the address; only ours are looked up';
comment on column ip_reputation.block_until is 'a block after failed logins, or by an operator; over once this has passed';

create index ip_reputation_by_score on ip_reputation (reputation_score, id);
create index ip_reputation_by_last_seen on ip_reputation (last_seen, id);
create index ip_reputation_search on ip_reputation using gin (ip_address gin_trgm_ops);

-- How the mail of a domain fared, by hour, day, week and month of UTC.
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

comment on column domain_reputation.trend is 'overall_score minus that of the period before; null when there is none';

create index domain_reputation_of_organization on domain_reputation (organization_id);
create index domain_reputation_newest on domain_reputation (period_type, overall_score, id)
  where is_newest;
create index domain_reputation_by_period on domain_reputation (period_type, period_start);

-- The score that was last told of, so that each change of the rating is told once.
create table domain_ratings (
  domain_id text primary key references domains on delete cascade,
  score double precision not null,
  told_at timestamptz not null
);

-- Complaints that providers passed on. The reports themselves are not kept.
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

comment on column feedback_loops.original_recipient is 'empty where the provider does not tell who complained';
comment on column feedback_loops.digest is 'of the report, which may come twice';

create unique index feedback_loops_digest on feedback_loops (organization_id, digest);
create index feedback_loops_by_created_at on feedback_loops (created_at, id);
create index feedback_loops_of_organization on feedback_loops (organization_id, created_at, id);
create index feedback_loops_of_domain on feedback_loops (sender_domain, created_at, id);
create index feedback_loops_search on feedback_loops using gin (sender gin_trgm_ops);

create index engagement_days_complained on engagement_days (bucket) where complained > 0;
