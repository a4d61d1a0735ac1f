-- Addresses that an organization no longer sends to. An address is suppressed while one of its rows
-- is active and not expired.
create table suppressions (
  id text primary key,
  email text not null check (email = lower(email) and length(email) <= 255),
  organization_id text not null references organizations on delete cascade,
  suppression_type text not null
    check (suppression_type in ('BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL')),
  reason text,
  source text check (length(source) <= 100),
  bounce_type text check (bounce_type in ('HARD', 'SOFT', 'BLOCK')),
  bounce_count integer not null default 1,
  active boolean not null default true,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index suppressions_email on suppressions (email, organization_id, suppression_type);
create index suppressions_of_organization on suppressions (organization_id, created_at, id);
create index suppressions_by_created_at on suppressions (created_at, id);
create index suppressions_by_email on suppressions (email, id);
create index suppressions_search on suppressions using gin (email gin_trgm_ops);
