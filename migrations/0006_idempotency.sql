create table idempotency_keys (
  caller text not null,
  method text not null,
  path text not null,
  key text not null,
  request_hash text not null,
  -- running: claimed; committed: its change is stored, its answer not yet; completed: replayable
  state text not null check (state in ('running', 'committed', 'completed')),
  claim text not null,
  alive_at timestamptz not null default now(),
  response_status integer,
  response bytea,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (caller, method, path, key)
);

comment on column idempotency_keys.response is 'sealed: it may hold a secret that is shown once';

create index idempotency_keys_expires_at on idempotency_keys (expires_at);
