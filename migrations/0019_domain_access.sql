-- Mailbox holders of a domain that is turned off are signed out at once.
create function tell_domain() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'organization:' || old.organization_id);
  return null;
end $$;

create trigger domains_tell_access
  after update of active on domains
  for each row when (old.active is distinct from new.active)
  execute function tell_domain();
