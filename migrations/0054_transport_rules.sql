-- What an organization has done with its mail on the way.
create table transport_rules (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  direction text not null default 'both' check (direction in ('inbound', 'outbound', 'both')),
  conditions jsonb not null,
  condition_logic text not null default 'all' check (condition_logic in ('all', 'any')),
  actions jsonb not null,
  priority integer not null default 100,
  enabled boolean not null default true,
  hit_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index transport_rules_in_order on transport_rules (organization_id, priority, created_at, id);

-- Processes that mail passes through keep rules in memory, by organization.
create function tell_organization() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], coalesce(new.organization_id, old.organization_id));
  return null;
end $$;

create trigger transport_rules_tell
  after insert or delete
    or update of name, direction, conditions, condition_logic, actions, priority, enabled
  on transport_rules
  for each row execute function tell_organization('mailplane_transport_rules');
