-- Templates of mail, rendered by the service `templates`.
create table templates (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  category text not null default 'general'
    check (category in ('transactional', 'marketing', 'notification', 'general')),
  subject_template text not null,
  html_content text not null,
  compiled_html text,
  plaintext_content text not null,
  variables jsonb not null default '[]',
  metadata jsonb not null default '{}',
  content_hash text not null,
  version integer not null default 1,
  render_count bigint not null default 0,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column templates.html_content is 'as its author wrote it: HTML or MJML';
comment on column templates.compiled_html is 'the HTML of a template in MJML, else null';
comment on column templates.active is 'false = deleted';

create index templates_of_organization on templates (organization_id, updated_at);

create table template_versions (
  id text primary key,
  template_id text not null references templates on delete cascade,
  version integer not null,
  subject_template text not null,
  html_content text not null,
  compiled_html text,
  plaintext_content text not null,
  variables jsonb not null default '[]',
  content_hash text not null,
  size_bytes integer not null,
  author text not null,
  created_at timestamptz not null default now(),
  unique (template_id, version)
);

comment on column template_versions.author is 'who saved it, as in audit trails';

create table template_renders (
  template_id text not null references templates on delete cascade,
  day date not null,
  count bigint not null,
  primary key (template_id, day)
);

-- Mail that was sent through the API, on its way to the mail server. A row is inserted in the transaction
-- that accepts the message, one for each recipient, and deleted when the mail server has accepted it.
-- A refused message stays for the message trace, without its content.
create table outgoing_parts (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  content bytea not null,
  created_at timestamptz not null default now()
);

comment on table outgoing_parts is 'the end of messages that several rows share, such as attachments';

create index outgoing_parts_of_organization on outgoing_parts (organization_id);
create index outgoing_parts_by_age on outgoing_parts (created_at);

create table outgoing_messages (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  message_id text not null,
  sender text not null,
  recipient text not null,
  subject text not null,
  content text not null,
  part_id text references outgoing_parts on delete cascade,
  size_bytes integer not null,
  attempts integer not null default 0,
  turn_at timestamptz not null,
  due_at timestamptz not null,
  last_reply text,
  failed_at timestamptz,
  created_at timestamptz not null,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column outgoing_messages.content is 'the message, or its beginning when part_id has its end';
comment on column outgoing_messages.turn_at is
  'order of sending: the more an organization has waiting, the later, so that others need not wait for it';

create index outgoing_messages_in_turn on outgoing_messages (turn_at) where failed_at is null;
create index outgoing_messages_of_organization on outgoing_messages (organization_id, failed_at);
create index outgoing_messages_of_message on outgoing_messages (message_id);
create index outgoing_messages_of_recipient on outgoing_messages (recipient);
create index outgoing_messages_of_sender on outgoing_messages (sender);
create index outgoing_messages_of_part on outgoing_messages (part_id) where part_id is not null;
create index outgoing_messages_leased on outgoing_messages (lease_owner)
  where lease_owner is not null;

create trigger outgoing_messages_notify
  after insert on outgoing_messages
  for each statement execute function notify_chore('outgoing-mail');
