-- Keys of people for encrypted mail. A private key is locked with a passphrase that is not stored, and
-- sealed on top of that.
create table pgp_keys (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  -- The mailbox; null for a correspondent.
  account_id text references email_accounts on delete cascade,
  email text not null check (email = lower(email) and length(email) <= 254),
  fingerprint text not null check (length(fingerprint) <= 64),
  user_id text not null,
  key_type text not null,
  key_length integer,
  public_key text not null,
  -- With the user id of the address alone, as the Web Key Directory publishes it.
  published_key bytea not null,
  wkd_hash text not null,
  private_key bytea,
  can_encrypt boolean not null,
  preferred boolean not null default false,
  expires_at timestamptz,
  revoked boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint pgp_keys_once unique (organization_id, email, fingerprint)
);

create unique index pgp_keys_preferred on pgp_keys (organization_id, email) where preferred;
create index pgp_keys_of_account on pgp_keys (account_id);
create index pgp_keys_by_wkd_hash on pgp_keys (wkd_hash) where account_id is not null;

-- The generation of large keys. The process that began it has the passphrase in memory alone, so a job
-- that it does not end has failed.
create table pgp_key_jobs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  account_id text not null references email_accounts on delete cascade,
  email text not null,
  status text not null check (status in ('running', 'completed', 'failed')),
  fingerprint text,
  error text,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

create index pgp_key_jobs_of_organization on pgp_key_jobs (organization_id);
create index pgp_key_jobs_of_account on pgp_key_jobs (account_id);

-- Mailboxes that encrypt what they receive to the preferred key of their holder.
create table mail_encryption (
  account_id text primary key references email_accounts on delete cascade,
  organization_id text not null references organizations on delete cascade,
  enabled boolean not null,
  updated_at timestamptz not null default now()
);

create index mail_encryption_of_organization on mail_encryption (organization_id);
