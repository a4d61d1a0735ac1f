-- Certificates of people for S/MIME. A private key is locked with a passphrase that is not stored, and
-- sealed on top of that.
create table smime_certificates (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  -- The mailbox; null for a correspondent.
  account_id text references email_accounts on delete cascade,
  email text not null check (email = lower(email) and length(email) <= 254),
  -- SHA-256 of the certificate.
  fingerprint text not null check (length(fingerprint) = 64),
  subject text not null,
  issuer text not null,
  serial text not null,
  key_type text not null,
  key_length integer not null,
  certificate text not null,
  -- Certificates that were sent with it and go with its signatures.
  chain text not null default '',
  private_key bytea,
  can_encrypt boolean not null,
  can_sign boolean not null,
  preferred boolean not null default false,
  not_before timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint smime_certificates_once unique (organization_id, email, fingerprint)
);

create unique index smime_certificates_preferred on smime_certificates (organization_id, email)
  where preferred;
create index smime_certificates_of_account on smime_certificates (account_id);

-- What mail of a mailbox is encrypted with.
alter table mail_encryption
  add column method text not null default 'pgp' check (method in ('pgp', 'smime'));
