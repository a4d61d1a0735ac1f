-- Certificates that were found in files, and those that a CA is being asked for. A file is a row; one
-- that cannot be read as a certificate is a row too, and says why.
create table certificates (
  id text primary key,
  domain text not null,
  names text[] not null default '{}',
  organization_id text references organizations on delete set null,
  status text not null check (status in ('active', 'expired', 'revoked', 'pending', 'failed')),
  issuer text,
  algorithm text,
  key_size integer,
  auto_renew boolean not null default false,
  error_message text,
  valid_from timestamptz,
  valid_until timestamptz,
  issued_at timestamptz,
  last_renewed timestamptz,
  fingerprint text,
  path text not null unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index certificates_organization_id on certificates (organization_id);
create index certificates_domain on certificates (domain, valid_until);
create index certificates_valid_until on certificates (valid_until, id);

comment on column certificates.status is 'of a file: active or failed; the clock tells what is expired or not yet valid';
comment on column certificates.auto_renew is 'we obtain it from a CA, and again before it ends';

-- Accounts at a CA, one for each address and CA.
create table acme_accounts (
  id text primary key,
  directory_url text not null,
  email text not null,
  account_key bytea not null,
  certs_issued integer not null default 0,
  success_count integer not null default 0,
  failure_count integer not null default 0,
  last_used timestamptz,
  registered_at timestamptz,
  created_at timestamptz not null default now(),
  unique (directory_url, email)
);

comment on column acme_accounts.account_key is 'private key, sealed';
comment on column acme_accounts.certs_issued is 'how often it was picked, as its readers know the name';

-- What is wanted of a CA. A process takes an order for a while; if it dies, another goes on after that.
create table acme_orders (
  id text primary key,
  certificate_id text not null references certificates on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  claimed_until timestamptz,
  begun_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now()
);

create index acme_orders_certificate_id on acme_orders (certificate_id);
create unique index acme_orders_open on acme_orders (certificate_id)
  where state in ('waiting', 'running');
create index acme_orders_due on acme_orders (next_attempt_at) where state in ('waiting', 'running');
create index acme_orders_begun_at on acme_orders (begun_at);

create trigger acme_orders_tell
  after insert on acme_orders
  for each statement execute function tell_chore('certificates');

-- What a CA looks for at /.well-known/acme-challenge/{token}; any process answers.
create table acme_challenges (
  token text primary key,
  key_authorization text not null,
  order_id text not null references acme_orders on delete cascade,
  expires_at timestamptz not null
);

create index acme_challenges_order_id on acme_challenges (order_id);
create index acme_challenges_expires_at on acme_challenges (expires_at);
