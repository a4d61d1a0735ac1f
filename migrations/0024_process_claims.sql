-- The claims of a process end with its heartbeat.
alter table daemon_heartbeats add column claims_freed boolean not null default false;

comment on column daemon_heartbeats.claims_freed is
  'the heartbeat has ended, and other processes may claim what this process had claimed';

-- Ends the leases of one process in every table that has them.
create function free_claims(process text) returns void language plpgsql as $$
declare
  leased regclass;
begin
  for leased in
    select attrelid::regclass from pg_attribute join pg_class on pg_class.oid = attrelid
    where attname = 'lease_owner' and not attisdropped and relkind in ('r', 'p')
      and not relispartition and relnamespace = 'public'::regnamespace
  loop
    execute format('update %s set lease_until = ''-infinity''
      where lease_until > now() and starts_with(lease_owner, $1)', leased) using process || '.';
  end loop;
end
$$;
