-- migrate: incompatible
-- Divides the events into days, as 0022 does with the mail log. A unique index of a divided table has the
-- time in it, so the id alone cannot be the target of a foreign key or of a conflict, as the previous
-- version asks for. Instead a queue entry also has the time of its event, which leads to the one day that
-- has it, and the clean-up keeps the events that are queued. A foreign key on both columns would lock the
-- queue whenever a day is made or dropped, and check every entry that is added.
alter table webhook_queue drop constraint webhook_queue_event_id_fkey;
alter table webhook_queue add column event_created_at timestamptz;
update webhook_queue set event_created_at = events.created_at from events where events.id = event_id;
-- An event and its entries are stored in one transaction, so both have its time.
alter table webhook_queue
  alter column event_created_at set default now(),
  alter column event_created_at set not null;

alter table events set schema days;
alter table days.events rename to events_before;
alter table days.events_before drop constraint events_pkey;
alter table days.events_before drop constraint events_id_key;
-- A partition with an identity cannot be attached. The sequence of the new table has the name of the
-- identity's, so it is restored from backups as before.
alter table days.events_before alter column sequence drop identity;
create sequence events_sequence_seq;
select setval('events_sequence_seq', coalesce((select max(sequence) from days.events_before), 0) + 1, false);

create table events (
  like days.events_before including defaults including constraints including comments
) partition by range (created_at);

alter table events alter column sequence set default nextval('events_sequence_seq');
alter sequence events_sequence_seq owned by events.sequence;

alter table events add primary key (created_at, id);
create index events_by_id on events (id);
-- As it was: that of the table from before becomes a part of it.
create index events_activity on events (org_id, created_at, sequence)
  where org_id is not null
    and event !~ '^(compliance|delivery|email|folder|pop3|rag|tracking)\.|^auth\.login\.|\.(progress|report|sent|triggered)$';

create table days.events_default partition of events default;
select attach_before('events', 'created_at');
drop function attach_before(text, text);
