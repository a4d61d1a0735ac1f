-- What the mail servers have yet to be told of, or could not be: a row is gone once that is done.
create table provisioning (
  resource_type text not null check (resource_type in ('mailbox', 'domain')),
  resource_id text not null,
  organization_id text not null,
  status text not null default 'pending' check (status in ('pending', 'failed')),
  error text,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  leased_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (resource_type, resource_id)
);
create index provisioning_due on provisioning (due_at) where status = 'pending';
create index provisioning_failed on provisioning (updated_at, resource_id) where status = 'failed';

create trigger provisioning_tell
  after insert on provisioning
  for each statement execute function tell_chore('provisioning');

create function begin_provisioning() returns trigger language plpgsql as $$
begin
  insert into provisioning (resource_type, resource_id, organization_id)
  select tg_argv[0], id, organization_id from made on conflict do nothing;
  return null;
end $$;

create function end_provisioning() returns trigger language plpgsql as $$
begin
  delete from provisioning
  where resource_type = tg_argv[0] and resource_id in (select id from gone);
  return null;
end $$;

create trigger email_accounts_provision after insert on email_accounts
  referencing new table as made
  for each statement execute function begin_provisioning('mailbox');
create trigger email_accounts_unprovision after delete on email_accounts
  referencing old table as gone
  for each statement execute function end_provisioning('mailbox');
create trigger domains_provision after insert on domains
  referencing new table as made
  for each statement execute function begin_provisioning('domain');
create trigger domains_unprovision after delete on domains
  referencing old table as gone
  for each statement execute function end_provisioning('domain');
