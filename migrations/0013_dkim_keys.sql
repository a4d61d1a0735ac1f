create table dkim_keys (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  selector text not null,
  algorithm text not null default 'rsa',
  key_size integer not null,
  public_key text not null,
  private_key bytea not null,
  active boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (domain_id, selector)
);

comment on column dkim_keys.public_key is 'base 64, as the p= of the DNS record';
comment on column dkim_keys.private_key is 'sealed';

-- One selector signs; the others wait to be published or to be forgotten by receivers.
create unique index dkim_keys_active on dkim_keys (domain_id) where active;
