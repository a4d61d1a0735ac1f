-- Logins whose open sessions must end. Dovecot checks a login when a session begins, and a mail program may
-- stay connected for days: the one of a guesser too, after the password was changed. An entry is made in the
-- transaction of the change and stays until Dovecot has ended the sessions. `*@DOMAIN` is a whole domain.
create table ended_logins (
  login text primary key,
  changes bigint not null default 1,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

create index ended_logins_due on ended_logins (due_at);

create trigger ended_logins_notify
  after insert or update of changes on ended_logins
  for each statement execute function notify_chore('ended-logins');

create function mark_ended_logins(p_logins text[]) returns void
language sql as $$
  insert into ended_logins (login)
  select distinct login from unnest(p_logins) as login order by login
  on conflict (login) do update set
    changes = ended_logins.changes + 1, attempts = 0, due_at = now()
$$;

-- A pending claim on a name must not end the sessions of its owner.
create function mailbox_login_ended() returns trigger language plpgsql as $$
begin
  perform mark_ended_logins(array(
    select old.email from domains where id = old.domain_id and ownership_verified_at is not null));
  return null;
end $$;

create trigger email_accounts_login_ended
  after update of password_hash, status on email_accounts
  for each row when (old.status = 'active'
    and (new.status <> 'active' or new.password_hash <> old.password_hash))
  execute function mailbox_login_ended();
create trigger email_accounts_login_deleted
  after delete on email_accounts
  for each row when (old.status = 'active') execute function mailbox_login_ended();

create function domain_logins_ended() returns trigger language plpgsql as $$
begin
  perform mark_ended_logins(array['*@' || old.domain]);
  return null;
end $$;

create trigger domains_logins_ended
  after update of active on domains
  for each row when (old.hosted and not new.hosted) execute function domain_logins_ended();

create function organization_logins_ended() returns trigger language plpgsql as $$
begin
  perform mark_ended_logins(array(
    select '*@' || domain from domains where organization_id = old.id and hosted));
  return null;
end $$;

create trigger organizations_logins_ended
  after update of active on organizations
  for each row when (old.active and not new.active) execute function organization_logins_ended();
