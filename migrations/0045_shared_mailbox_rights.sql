-- Shared mailboxes whose rights in Dovecot may differ from their members. The mark is left in the
-- transaction of the change, whoever makes it, and stays until Dovecot has been told. It goes by the
-- address: one that was deleted and made again is one mailbox to Dovecot, with one set of rights.
create table shared_mailbox_rights_pending (
  email text primary key,
  changes bigint not null default 1,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- Somebody is at it; after a crash others go on once this has passed.
  leased_until timestamptz not null default '-infinity'
);

create index shared_mailbox_rights_pending_due on shared_mailbox_rights_pending (due_at);

create trigger shared_mailbox_rights_pending_tell
  after insert or update of changes on shared_mailbox_rights_pending
  for each statement execute function tell_chore('shared-mailbox-rights');

create function mark_shared_rights(p_emails text[]) returns void
language sql as $$
  insert into shared_mailbox_rights_pending (email)
  select distinct email from unnest(p_emails) as email order by email
  on conflict (email) do update set
    changes = shared_mailbox_rights_pending.changes + 1, attempts = 0, due_at = now()
$$;

create function shared_member_changed() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform mark_shared_rights(array(
    select email from shared_mailboxes where id = changed.shared_mailbox_id));
  return null;
end $$;

create trigger shared_mailbox_members_mark_rights
  after insert or delete or update of permission on shared_mailbox_members
  for each row execute function shared_member_changed();

create function shared_mailbox_changed() returns trigger language plpgsql as $$
begin
  perform mark_shared_rights(array[coalesce(new.email, old.email)]);
  return null;
end $$;

create trigger shared_mailboxes_mark_rights
  after insert or delete or update of status on shared_mailboxes
  for each row execute function shared_mailbox_changed();

-- Access rests while either side is not active.
create function member_status_changed() returns trigger language plpgsql as $$
begin
  perform mark_shared_rights(array(
    select s.email from shared_mailboxes s
    join shared_mailbox_members m on m.shared_mailbox_id = s.id
    where m.email_account_id = new.id));
  return null;
end $$;

create trigger email_accounts_mark_shared_rights
  after update of status on email_accounts
  for each row when (old.status is distinct from new.status)
  execute function member_status_changed();

-- Dovecot knows nobody of an inactive domain or organization: what changed meanwhile is told after.
create function host_of_shared_changed() returns trigger language plpgsql as $$
begin
  perform mark_shared_rights(array(
    select email from shared_mailboxes
    where status = 'active' and case tg_argv[0]
      when 'domain' then domain_id = new.id
      else organization_id = new.id end));
  return null;
end $$;

create trigger domains_mark_shared_rights
  after update of active on domains
  for each row when (old.active is distinct from new.active)
  execute function host_of_shared_changed('domain');

create trigger organizations_mark_shared_rights
  after update of active on organizations
  for each row when (old.active is distinct from new.active)
  execute function host_of_shared_changed('organization');
