-- From where a tenant's logins may send. With an active whitelist rule everything else is refused.
create table ip_access_rules (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  rule_type text not null check (rule_type in ('whitelist', 'blacklist')),
  ip_address text not null,
  description text check (length(description) <= 255),
  active boolean not null default true,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, rule_type, ip_address)
);

comment on column ip_access_rules.ip_address is 'an address or a network; host bits may be set';

-- From which countries, and when. No row means from everywhere.
create table geo_policies (
  id text primary key,
  organization_id text not null unique references organizations on delete cascade,
  allowed_countries text[] not null default '{}',
  blocked_countries text[] not null default '{}',
  time_restrictions jsonb,
  action text not null default 'block' check (action in ('block', 'challenge', 'log_only')),
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
