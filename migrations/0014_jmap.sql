-- The index of JMAP. Dovecot has the mail; every row here can be made again from it, except identities,
-- submissions, uploads and push subscriptions.
create table jmap_accounts (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  email_account_id text references email_accounts on delete cascade,
  shared_mailbox_id text references shared_mailboxes on delete cascade,
  -- The number of the last change. It starts at a time, so that a new index repeats no state.
  state bigint not null,
  -- Changes up to this one are not known any more.
  forgotten bigint not null,
  -- The vacation response as HTML; the mail server has its text.
  vacation_html text,
  -- The index of an account that no program uses is removed after a time.
  used_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  check (num_nonnulls(email_account_id, shared_mailbox_id) = 1)
);

create index jmap_accounts_unused on jmap_accounts (used_at);
create index jmap_accounts_organization on jmap_accounts (organization_id);
create index jmap_accounts_email_account on jmap_accounts (email_account_id);
create index jmap_accounts_shared_mailbox on jmap_accounts (shared_mailbox_id);

create table jmap_mailboxes (
  account_id text not null references jmap_accounts on delete cascade,
  id text not null,
  path text not null,
  name text not null,
  parent_id text,
  role text,
  is_subscribed boolean not null,
  sort_order bigint not null default 0,
  uid_validity bigint not null,
  modseq bigint not null default 0,
  uid_next bigint not null default 1,
  -- Messages from this UID on are in the index; it falls to 1 while older ones are added.
  indexed_from bigint not null default 1,
  total_emails integer not null default 0,
  unread_emails integer not null default 0,
  total_threads integer not null default 0,
  unread_threads integer not null default 0,
  primary key (account_id, id)
);

create table jmap_emails (
  account_id text not null references jmap_accounts on delete cascade,
  id text not null,
  thread_id text not null,
  received_at timestamptz not null,
  sent_at timestamptz,
  size bigint not null,
  -- The header properties of RFC 8621 section 4.1.3.
  head jsonb not null,
  subject text not null,
  from_text text not null,
  to_text text not null,
  cc_text text not null,
  bcc_text text not null,
  from_sort text not null,
  to_sort text not null,
  subject_sort text not null,
  preview text not null,
  has_attachment boolean not null,
  keywords text[] not null,
  is_unread boolean not null,
  -- In no mailbox any more; it is destroyed when the whole account has been compared.
  is_orphan boolean not null default false,
  primary key (account_id, id)
);

create index jmap_emails_thread on jmap_emails (account_id, thread_id);
create index jmap_emails_received on jmap_emails (account_id, received_at desc, id);
create index jmap_emails_orphans on jmap_emails (account_id) where is_orphan;

-- Where a message is. Copies of a message have the same id.
create table jmap_places (
  account_id text not null references jmap_accounts on delete cascade,
  mailbox_id text not null,
  uid bigint not null,
  email_id text not null,
  thread_id text not null,
  keywords text[] not null,
  primary key (account_id, mailbox_id, uid)
);

create index jmap_places_email on jmap_places (account_id, email_id, mailbox_id);
create index jmap_places_thread on jmap_places (account_id, thread_id, mailbox_id);

-- What a thread adds to the counts of a mailbox, so that a change counts its own threads only.
create table jmap_thread_counts (
  account_id text not null references jmap_accounts on delete cascade,
  mailbox_id text not null,
  thread_id text not null,
  emails integer not null,
  unread_emails integer not null,
  is_unread boolean not null,
  primary key (account_id, thread_id, mailbox_id)
);

-- Finds the thread of a message by the ids that it names.
create table jmap_message_ids (
  account_id text not null references jmap_accounts on delete cascade,
  message_hash text not null,
  thread_id text not null,
  primary key (account_id, message_hash)
);

create index jmap_message_ids_thread on jmap_message_ids (account_id, thread_id);

create table jmap_changes (
  account_id text not null references jmap_accounts on delete cascade,
  state bigint not null,
  kind text not null check (kind in
    ('Mailbox', 'Email', 'Thread', 'Identity', 'EmailSubmission', 'VacationResponse')),
  object_id text not null,
  action text not null check (action in ('created', 'updated', 'destroyed')),
  -- Only the counts of a mailbox changed.
  counts_only boolean not null default false,
  changed_at timestamptz not null default now(),
  primary key (account_id, state)
);

create index jmap_changes_kind on jmap_changes (account_id, kind, state);
create index jmap_changes_age on jmap_changes (changed_at);

-- Size is null until the last piece is stored.
create table jmap_uploads (
  id text primary key,
  account_id text not null references jmap_accounts on delete cascade,
  media_type text not null,
  size bigint,
  created_at timestamptz not null default now()
);

create index jmap_uploads_account on jmap_uploads (account_id);
create index jmap_uploads_age on jmap_uploads (created_at);

create table jmap_upload_pieces (
  upload_id text not null references jmap_uploads on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (upload_id, number)
);

create table jmap_identities (
  id text primary key,
  account_id text not null references jmap_accounts on delete cascade,
  email text not null,
  name text not null default '',
  reply_to jsonb,
  bcc jsonb,
  text_signature text not null default '',
  html_signature text not null default '',
  may_delete boolean not null,
  created_at timestamptz not null default now()
);

create index jmap_identities_account on jmap_identities (account_id);
create unique index jmap_identities_default on jmap_identities (account_id, email) where not may_delete;

create table jmap_submissions (
  id text primary key,
  account_id text not null references jmap_accounts on delete cascade,
  identity_id text not null,
  email_id text not null,
  thread_id text not null,
  envelope jsonb not null,
  send_at timestamptz not null,
  delivery_status jsonb not null
);

create index jmap_submissions_account on jmap_submissions (account_id, send_at);

-- The program of a holder that wants to hear of changes.
create table jmap_push_subscriptions (
  id text primary key,
  email_account_id text not null references email_accounts on delete cascade,
  device_id text not null,
  url text not null,
  keys jsonb,
  types text[],
  -- The receiver must send it back before it gets anything else.
  verification_code text not null,
  is_verified boolean not null default false,
  expires_at timestamptz not null,
  -- The states that were sent last, by account.
  sent_states jsonb not null default '{}',
  failures integer not null default 0,
  created_at timestamptz not null default now()
);

create index jmap_push_subscriptions_account on jmap_push_subscriptions (email_account_id);
create index jmap_push_subscriptions_expiry on jmap_push_subscriptions (expires_at);
