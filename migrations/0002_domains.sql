create table domains (
  id text primary key,
  organization_id text not null references organizations,
  domain text not null unique check (domain = lower(domain) and length(domain) <= 253),
  external_id text unique check (length(external_id) <= 255),
  description text,
  active boolean not null default true,
  verified_at timestamptz,
  max_quota bigint not null default 10737418240 check (max_quota >= 0),
  max_users integer not null default 1000 check (max_users >= 0),
  dkim_enabled boolean not null default true,
  dkim_selector text not null default 'default',
  rate_limits jsonb not null default '{}',
  storage_quotas jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index domains_organization_id on domains (organization_id);
