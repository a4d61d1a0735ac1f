-- Every address and login name that means something to the mail servers, whatever it belongs to.
-- One name, one owner: a mailbox, an alias, a shared mailbox and an SMTP login can never shadow
-- each other, also when two requests come at once.
create table addresses (
  address text primary key check (address = lower(address)),
  kind text not null check (kind in ('mailbox', 'alias', 'shared_mailbox', 'smtp_credential')),
  owner_id text not null unique
);

insert into addresses (address, kind, owner_id) select email, 'mailbox', id from email_accounts;

-- The register follows the rows by itself, whoever writes them.
create function register_address() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into addresses (address, kind, owner_id)
    values (to_jsonb(new) ->> tg_argv[1], tg_argv[0], new.id);
  else
    delete from addresses where owner_id = old.id;
  end if;
  return null;
end $$;

create trigger email_accounts_register
  after insert or delete on email_accounts
  for each row execute function register_address('mailbox', 'email');
