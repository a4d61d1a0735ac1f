-- migrate: incompatible
-- Divides the webhook deliveries into days, as 0022 does with the mail log. An attempt has its id and its
-- time before it is stored, so the primary key of both still stores an outcome once that is written twice.
-- The previous version asks for a conflict of the id alone, which no index of the new table answers.

-- Attaches days.NAME_before, the rows from before the table was divided, up to the end of the day of the
-- upgrade. Only the indexes that it lacks are made. An empty table is dropped.
create function attach_before(p_table text, p_column text) returns void
language plpgsql as $$
declare
  before text := p_table || '_before';
  bound timestamptz;
begin
  execute format('select date_trunc(''day'', max(%I), ''UTC'') from days.%I', p_column, before)
    into bound;
  if bound is null then
    execute format('drop table days.%I', before);
    return;
  end if;
  bound := greatest(bound, date_trunc('day', now(), 'UTC')) + interval '1 day';
  execute format('alter table %I attach partition days.%I for values from (minvalue) to (%L)',
    p_table, before, bound);
end $$;

alter table webhook_deliveries set schema days;
alter table days.webhook_deliveries rename to webhook_deliveries_before;
alter table days.webhook_deliveries_before drop constraint webhook_deliveries_pkey;
-- The primary key of the new table has these columns.
drop index days.webhook_deliveries_by_created_at;

create table webhook_deliveries (
  like days.webhook_deliveries_before including defaults including constraints including comments
) partition by range (created_at);

alter table webhook_deliveries add primary key (created_at, id);
create index webhook_deliveries_by_id on webhook_deliveries (id);
-- As they were: those of the table from before become parts of these.
create index webhook_deliveries_of_organization on webhook_deliveries (organization_id, created_at, id);
create index webhook_deliveries_of_event on webhook_deliveries (event_id, attempts);
create index webhook_deliveries_of_message on webhook_deliveries (message_id) where message_id is not null;
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at, id)
  where endpoint_id is not null;

create table days.webhook_deliveries_default partition of webhook_deliveries default;
select attach_before('webhook_deliveries', 'created_at');
