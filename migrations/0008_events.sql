-- Written in the transaction of the change that caused them; delivery reads them from here.
create table events (
  sequence bigint generated always as identity primary key,
  id text not null unique,
  event text not null,
  source text not null,
  org_id text,
  domain text,
  tags jsonb not null default '[]',
  user_variables jsonb not null default '{}',
  data jsonb not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create index events_org_id on events (org_id, sequence);
