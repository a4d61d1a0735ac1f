create table aliases (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade,
  source text not null check (source = lower(source)),
  destination text not null,
  destinations text[] not null check (cardinality(destinations) > 0),
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column aliases.source is 'an address, or @domain for everything else at that domain';
comment on column aliases.destinations is 'the addresses of destination, trimmed and in lower case';

create unique index aliases_source on aliases (source);
create index aliases_of_organization on aliases (organization_id, source, id);
create index aliases_of_domain on aliases (domain_id, source, id);
create index aliases_destinations on aliases using gin (destinations);

create trigger aliases_register
  after insert or delete on aliases
  for each row execute function register_address('alias', 'source');
