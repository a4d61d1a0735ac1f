-- Invitations, their changes and the replies to them (iMIP, RFC 6047), on their way to the mail server. A
-- row is inserted in the transaction that changes the calendar, and deleted when the mail server has
-- accepted the message. `content` is the whole message, so that every attempt sends the same Message-ID.
create table calendar_mail (
  id text primary key,
  seq bigint generated always as identity,
  organization_id text not null references organizations on delete cascade,
  account_id text not null references email_accounts on delete cascade,
  collection_id text references dav_collections on delete set null,
  uid text not null,
  method text not null check (method in ('REQUEST', 'CANCEL', 'REPLY')),
  sender text not null,
  recipient text not null,
  content text not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column calendar_mail.account_id is 'the mailbox whose holder made the change';
comment on column calendar_mail.collection_id is 'the calendar that learns of a failure';

create index calendar_mail_due on calendar_mail (due_at);
-- The messages of one sender are sent one after the other.
create index calendar_mail_in_order on calendar_mail (account_id, seq);
create index calendar_mail_of_recipient on calendar_mail (recipient);
create index calendar_mail_of_collection on calendar_mail (collection_id);
create index calendar_mail_of_organization on calendar_mail (organization_id);

create trigger calendar_mail_notify
  after insert on calendar_mail
  for each statement execute function notify_chore('calendar-mail');

-- An invitation is looked up in all calendars of its owner.
create index dav_objects_by_uid on dav_objects (uid);

-- RFC 6638 section 3.2.10: does not change when only the answers of attendees do.
alter table dav_objects add column schedule_tag text;
comment on column dav_objects.schedule_tag is 'null for an object without attendees';
update dav_objects set schedule_tag = etag where not gone and data ~* E'\nATTENDEE[;:]';
