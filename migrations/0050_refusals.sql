-- Processes that decide about mail keep in memory whom an organization does not write to and whose
-- mail it does not take. What changes is told to all: "<what> <organization> <address>", or without
-- an address when so many changed at once that all of the organization is to be read again.
create function tell_refusals() returns trigger language plpgsql as $$
declare
  many boolean := (select count(*) > 100 from changed);
begin
  perform pg_notify(
    'mailplane_refusals',
    tg_argv[0] || ' ' || organization_id || case when many then '' else ' ' || address end
  )
  from (
    select distinct c.organization_id,
      case when many then null else to_jsonb(c) ->> tg_argv[1] end as address
    from changed c
  ) told;
  return null;
end $$;

create trigger suppressions_tell_insert after insert on suppressions
  referencing new table as changed
  for each statement execute function tell_refusals('suppressed', 'email');
create trigger suppressions_tell_update after update on suppressions
  referencing new table as changed
  for each statement execute function tell_refusals('suppressed', 'email');
create trigger suppressions_tell_delete after delete on suppressions
  referencing old table as changed
  for each statement execute function tell_refusals('suppressed', 'email');

create trigger blocked_senders_tell_insert after insert on blocked_senders
  referencing new table as changed
  for each statement execute function tell_refusals('blocked', 'sender');
create trigger blocked_senders_tell_update after update on blocked_senders
  referencing new table as changed
  for each statement execute function tell_refusals('blocked', 'sender');
create trigger blocked_senders_tell_delete after delete on blocked_senders
  referencing old table as changed
  for each statement execute function tell_refusals('blocked', 'sender');
