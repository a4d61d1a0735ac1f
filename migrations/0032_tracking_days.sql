-- migrate: incompatible
-- Divides the tracking events into days, as 0022 does with the mail log. Exports of the previous version
-- read a person's rows by their place in the table, which is not unique in a divided one.
alter table tracking_events set schema days;
alter table days.tracking_events rename to tracking_events_before;
alter table days.tracking_events_before drop constraint tracking_events_pkey;
-- The primary key of the new table begins with this column.
drop index days.tracking_events_by_created_at;

create table tracking_events (
  like days.tracking_events_before including defaults including constraints including comments
) partition by range (created_at);

alter table tracking_events add primary key (created_at, id);
alter table tracking_events add foreign key (organization_id) references organizations on delete cascade;
-- As they were: those of the table from before become parts of these.
create index tracking_events_of_domain on tracking_events (organization_id, domain, created_at);
create index tracking_events_of_message on tracking_events (email_id, organization_id, created_at);
create index tracking_events_of_bounces on tracking_events (organization_id, recipient, created_at)
  where event_type = 'bounced';
create index tracking_events_with_address on tracking_events (created_at) where ip_address is not null;

create table days.tracking_events_default partition of tracking_events default;
select attach_before('tracking_events', 'created_at');
