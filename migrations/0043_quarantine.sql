-- Messages that wait for an operator's decision. The message itself lies apart, sealed.
create table quarantine (
  id text primary key,
  organization_id text references organizations on delete cascade,
  message_id text,
  queue_id text,
  sender text not null default '',
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
  release_begun_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);

comment on column quarantine.release_begun_at is 'somebody is delivering it; nobody else may meanwhile';

create index quarantine_by_status on quarantine (status, created_at, id);
create index quarantine_of_organization on quarantine (organization_id, status, created_at, id);
create index quarantine_by_expiry on quarantine (expires_at) where status in ('quarantined', 'deleted');
create index quarantine_of_message on quarantine (message_id) where message_id is not null;
create index quarantine_search on quarantine
  using gin (sender gin_trgm_ops, recipient gin_trgm_ops, subject gin_trgm_ops);

create table quarantined_messages (
  quarantine_id text primary key references quarantine on delete cascade,
  content bytea not null
);

comment on column quarantined_messages.content is 'sealed';

-- Senders whose mail an organization refuses. Suppressions are about recipients of outgoing mail, so
-- they refuse nothing that comes in.
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
