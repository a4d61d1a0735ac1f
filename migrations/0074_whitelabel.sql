-- What an organization looks like to its users. Not in the organization's settings, which tenants
-- write themselves: markup in here has been through the sanitizer.
create table whitelabel_configs (
  organization_id text primary key references organizations on delete cascade,
  fields jsonb not null default '{}',
  custom_domain text unique check (custom_domain = lower(custom_domain)),
  domain_verified_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
