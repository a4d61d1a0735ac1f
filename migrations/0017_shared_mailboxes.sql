create table shared_mailboxes (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade,
  email text not null check (email = lower(email)),
  name text not null check (length(name) <= 255),
  status text not null default 'active' check (status in ('active', 'inactive')),
  auto_reply_enabled boolean not null default false,
  auto_reply_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A deleted one stays as history; its address is free again.
create unique index shared_mailboxes_email on shared_mailboxes (email) where status = 'active';
create index shared_mailboxes_of_organization on shared_mailboxes (organization_id, email, id);
create index shared_mailboxes_of_domain on shared_mailboxes (domain_id);

create function register_shared_mailbox() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from addresses where owner_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.status = 'active' then
    insert into addresses (address, kind, owner_id) values (new.email, 'shared_mailbox', new.id);
  end if;
  return null;
end $$;

create trigger shared_mailboxes_register
  after insert or delete or update of status on shared_mailboxes
  for each row execute function register_shared_mailbox();

create table shared_mailbox_members (
  id text primary key,
  shared_mailbox_id text not null references shared_mailboxes on delete cascade,
  email_account_id text not null references email_accounts on delete cascade,
  permission text not null check (permission in ('full_access', 'send_as', 'send_on_behalf', 'read_only')),
  granted_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (shared_mailbox_id, email_account_id)
);

create index shared_mailbox_members_of_account on shared_mailbox_members (email_account_id);
