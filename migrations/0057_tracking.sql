-- Messages whose pixel and links lead through this service. What is the same for all recipients stands
-- here once; each recipient has a row with an id that nobody can guess.
create table tracked_messages (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text references domains on delete set null,
  domain text not null,
  email_id text not null check (length(email_id) <= 255),
  created_at timestamptz not null default now()
);

comment on column tracked_messages.email_id is 'Message-ID without its angle brackets';

create index tracked_messages_email_id on tracked_messages (email_id, organization_id);
create index tracked_messages_of_organization on tracked_messages (organization_id);
create index tracked_messages_domain_id on tracked_messages (domain_id);
create index tracked_messages_by_created_at on tracked_messages (created_at);

create table tracked_links (
  message_id text not null references tracked_messages on delete cascade,
  position integer not null,
  url text not null,
  primary key (message_id, position)
);

create table tracked_recipients (
  id text primary key,
  message_id text not null references tracked_messages on delete cascade,
  recipient text not null check (length(recipient) <= 255),
  sent_at timestamptz
);

comment on column tracked_recipients.sent_at is 'when it was handed to the mail server; null when somebody else sends it';

create index tracked_recipients_of_message on tracked_recipients (message_id);

-- What recipients did, and what was done in their name by machines. Analytics adds them up.
create table tracking_events (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text,
  domain text not null,
  tracking_id text,
  email_id text,
  recipient text not null,
  event_type text not null check (
    event_type in ('delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed')
  ),
  automated boolean not null default false,
  automated_reason text,
  url text,
  user_agent text,
  ip_address text,
  referer text,
  accept_language text,
  device_type text,
  browser text,
  operating_system text,
  country text,
  region text,
  city text,
  additional_data jsonb,
  created_at timestamptz not null default now()
);

comment on column tracking_events.automated is 'a scanner, a prefetcher or a privacy proxy, not a person';
comment on column tracking_events.tracking_id is 'of the recipient''s copy';

create index tracking_events_of_domain on tracking_events (organization_id, domain, created_at);
create index tracking_events_of_message on tracking_events (email_id, organization_id, created_at);
create index tracking_events_by_created_at on tracking_events (created_at);
create index tracking_events_of_bounces on tracking_events (organization_id, recipient, created_at)
  where event_type = 'bounced';

-- Addresses are shortened or forgotten before the rest is.
create index tracking_events_with_address on tracking_events (created_at) where ip_address is not null;

-- Who does not want the mail of a login or of a domain to be tracked.
alter table smtp_credentials add column tracking_enabled boolean not null default true;
alter table domains add column tracking_enabled boolean not null default true;
