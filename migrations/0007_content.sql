-- Messages that wait for an operator's decision. The content is in a table of its own, sealed.
create table quarantine (
  id text primary key,
  organization_id text references organizations on delete cascade,
  message_id text,
  queue_id text,
  sender text not null default '',
  login text,
  recipient text not null default '',
  subject text,
  reason text not null check (reason in ('spam', 'virus', 'policy', 'transport_rule', 'admin')),
  spam_score double precision,
  virus_name text,
  rule_id text,
  headers jsonb not null default '{}',
  status text not null default 'quarantined'
    check (status in ('quarantined', 'released', 'deleted', 'expired')),
  released_by text,
  released_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);

comment on column quarantine.login is 'set for outgoing mail; a release is signed for it';
comment on column quarantine.lease_until is
  'a release is in progress; no other request may release or block the message';

create index quarantine_by_status on quarantine (status, created_at, id);
create index quarantine_of_organization on quarantine (organization_id, status, created_at, id);
create index quarantine_by_expiry on quarantine (expires_at) where status in ('quarantined', 'deleted');
create index quarantine_of_message on quarantine (message_id) where message_id is not null;
create index quarantine_search on quarantine
  using gin (sender gin_trgm_ops, recipient gin_trgm_ops, subject gin_trgm_ops);
create index quarantine_by_created_at on quarantine (organization_id, created_at);

-- A message is stored in pieces, because encoding 50 MB at once would block the event loop.
create table quarantined_messages (
  quarantine_id text references quarantine on delete cascade,
  piece integer,
  content bytea not null,
  primary key (quarantine_id, piece)
);

comment on column quarantined_messages.content is 'sealed';

-- Senders whose mail an organization refuses. Suppressions concern recipients of outgoing mail only.
create table blocked_senders (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  sender text not null check (sender = lower(sender)),
  reason text not null,
  quarantine_id text references quarantine on delete set null,
  created_by text not null,
  created_at timestamptz not null default now()
);

create unique index blocked_senders_sender on blocked_senders (organization_id, sender);
create index blocked_senders_quarantine_id on blocked_senders (quarantine_id);

create trigger blocked_senders_notify_insert after insert on blocked_senders
  referencing new table as changed
  for each statement execute function notify_refusals('blocked', 'sender');
create trigger blocked_senders_notify_update after update on blocked_senders
  referencing new table as changed
  for each statement execute function notify_refusals('blocked', 'sender');
create trigger blocked_senders_notify_delete after delete on blocked_senders
  referencing old table as changed
  for each statement execute function notify_refusals('blocked', 'sender');

-- Rules that an organization applies to its mail in transit.
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

-- Content filter processes cache rules by organization.
create function notify_organization() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], coalesce(new.organization_id, old.organization_id));
  return null;
end $$;

create trigger transport_rules_notify
  after insert or delete
    or update of name, direction, conditions, condition_logic, actions, priority, enabled
  on transport_rules
  for each row execute function notify_organization('mailplane_transport_rules');

-- Data loss prevention policies for outgoing and incoming mail. Operators write them.
create table dlp_policies (
  id integer generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  policy_type text not null default 'keyword'
    check (policy_type in ('pii', 'keyword', 'regex', 'file_type')),
  patterns jsonb not null,
  action text not null default 'notify'
    check (action in ('block', 'quarantine', 'encrypt', 'notify', 'log_only')),
  severity text not null default 'medium'
    check (severity in ('low', 'medium', 'high', 'critical')),
  enabled boolean not null default true,
  apply_to text not null default 'outbound' check (apply_to in ('inbound', 'outbound', 'both')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index dlp_policies_name on dlp_policies (organization_id, name);

create trigger dlp_policies_notify
  after insert or update or delete on dlp_policies
  for each row execute function notify_organization('mailplane_dlp_policies');

-- No foreign key to the policy: violations outlive it.
create table dlp_violations (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  policy_id integer not null,
  message_id text,
  sender text not null,
  recipient text,
  violation_type text not null,
  action_taken text not null,
  severity text not null,
  has_match boolean not null,
  matched_pattern text,
  details jsonb,
  created_at timestamptz not null default now()
);

comment on column dlp_violations.matched_pattern is
  'pattern of the policy; never read by the API. The matched text is not stored';
comment on column dlp_violations.details is 'place of the match; never read by the API';

create index dlp_violations_created_at on dlp_violations (created_at, id);
create index dlp_violations_of_organization on dlp_violations (organization_id, created_at, id);
create index dlp_violations_of_policy on dlp_violations (policy_id, created_at);

-- Messages with a tracking pixel and rewritten links. Each recipient has a row with an unguessable id.
create table tracked_messages (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text references domains on delete set null,
  domain text not null,
  email_id text not null check (length(email_id) <= 255),
  created_at timestamptz not null default now()
);

comment on column tracked_messages.email_id is 'Message-ID without angle brackets';

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

comment on column tracked_recipients.sent_at is
  'when the message was passed to the mail server; null when another system sends it';

create index tracked_recipients_of_message on tracked_recipients (message_id);

-- Opens, clicks and other actions of recipients and of automated clients.
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
comment on column tracking_events.tracking_id is 'id of the recipient''s copy';

create index tracking_events_of_domain on tracking_events (organization_id, domain, created_at);
create index tracking_events_of_message on tracking_events (email_id, organization_id, created_at);
create index tracking_events_by_created_at on tracking_events (created_at);
create index tracking_events_of_bounces on tracking_events (organization_id, recipient, created_at)
  where event_type = 'bounced';
-- IP addresses are shortened or deleted before the rest of the row.
create index tracking_events_with_address on tracking_events (created_at) where ip_address is not null;
