-- Several mail hosts. Without a row here there is one host, and nothing of this file applies.
create table mail_hosts (
  id text primary key,
  name text not null,
  roles text[] not null check (
    cardinality(roles) > 0
    and roles <@ array['proxy', 'backend', 'mx', 'submission', 'outbound']
    and (roles = array['backend'] or not 'backend' = any (roles))),
  state text not null default 'active' check (state in ('active', 'draining', 'away')),
  address text not null,
  imap_port integer not null,
  pop3_port integer not null,
  sieve_port integer not null,
  lmtp_port integer not null,
  sync_port integer not null,
  doveadm_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column mail_hosts.state is
  'draining: its mailboxes move to other hosts; away: nothing connects to it';
comment on column mail_hosts.sync_port is 'where other backends copy mailboxes to';
comment on column mail_hosts.doveadm_url is
  'null for a host without Dovecot; its key follows from the root key and the name';

create unique index mail_hosts_name on mail_hosts (name);

-- The host of each mailbox, shared mailbox, and deleted mailbox whose mail is still on disk.
create table mailbox_places (
  mailbox_id text primary key,
  organization_id text not null,
  host_id text not null references mail_hosts,
  locked boolean not null default false
);

comment on column mailbox_places.locked is
  'during the last part of a move: logins and deliveries fail for a while';

create index mailbox_places_host on mailbox_places (host_id);
create index mailbox_places_organization on mailbox_places (organization_id, mailbox_id);

-- The host of a new mailbox. An organization stays together, because a member of a shared mailbox must be on
-- its host; a new organization goes to the backend with the fewest mailboxes.
create function place_of_new_mailbox(p_organization text) returns text
language sql stable as $$
  select coalesce(
    (select p.host_id from mailbox_places p
      join mail_hosts h on h.id = p.host_id and h.state = 'active'
      where p.organization_id = p_organization
      order by p.mailbox_id desc limit 1),
    (select h.id from mail_hosts h
      where 'backend' = any (h.roles)
      order by h.state <> 'active',
        (select count(*) from mailbox_places p where p.host_id = h.id), h.name limit 1))
$$;

create function place_mailboxes() returns trigger language plpgsql as $$
begin
  insert into mailbox_places (mailbox_id, organization_id, host_id)
  select id, organization_id, place_of_new_mailbox(organization_id) from made
  where exists (select from mail_hosts where 'backend' = any (roles))
  on conflict do nothing;
  return null;
end $$;

create trigger email_accounts_place after insert on email_accounts
  referencing new table as made
  for each statement execute function place_mailboxes();
create trigger shared_mailboxes_place after insert on shared_mailboxes
  referencing new table as made
  for each statement execute function place_mailboxes();

-- At the end of the transaction, because a restore brings a deleted mailbox back.
create function forget_place() returns trigger language plpgsql as $$
begin
  delete from mailbox_places where mailbox_id = old.id
    and not exists (select from email_accounts where id = old.id)
    and not exists (select from shared_mailboxes where id = old.id);
  return null;
end $$;

create constraint trigger deleted_mailboxes_forget_place
  after delete on deleted_mailboxes deferrable initially deferred
  for each row execute function forget_place();

-- Moves of mailboxes between hosts. A move can be continued from each state after a crash.
create table mailbox_moves (
  id text primary key default replace(gen_random_uuid()::text, '-', ''),
  mailbox_id text not null,
  organization_id text not null,
  source_id text not null references mail_hosts on delete cascade,
  target_id text not null references mail_hosts on delete cascade,
  state text not null default 'waiting' check (
    state in ('waiting', 'copying', 'locked', 'switched', 'done', 'failed', 'cancelled')),
  messages integer,
  attempts integer not null default 0,
  error_message text,
  due_at timestamptz not null default now(),
  created_by text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column mailbox_moves.state is
  'waiting, copying, locked (the last copy), switched (hosts are being notified), then an end';
comment on column mailbox_moves.messages is 'counted on both hosts before the switch';

create unique index mailbox_moves_open on mailbox_moves (mailbox_id)
  where state in ('waiting', 'copying', 'locked', 'switched');
create index mailbox_moves_due on mailbox_moves (due_at)
  where state in ('waiting', 'copying', 'locked', 'switched');
create index mailbox_moves_by_time on mailbox_moves (created_at, id);
create index mailbox_moves_source on mailbox_moves (source_id);
create index mailbox_moves_target on mailbox_moves (target_id);

create trigger mailbox_moves_notify
  after insert on mailbox_moves
  for each statement execute function notify_chore('mailbox-moves');

-- Copies of mailboxes on hosts that they do not belong to, and when they are removed.
create table mailbox_leftovers (
  mailbox_id text not null,
  host_id text not null references mail_hosts on delete cascade,
  remove_after timestamptz not null,
  attempts integer not null default 0,
  error_message text,
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  primary key (mailbox_id, host_id)
);

create index mailbox_leftovers_host on mailbox_leftovers (host_id);
create index mailbox_leftovers_due on mailbox_leftovers (remove_after);

-- The login with which Dovecot finds a mailbox; null when its mail is gone.
create function login_of_mailbox(p_mailbox text) returns text
language sql stable as $$
  select email from email_accounts where id = p_mailbox
  union all
  select email from shared_mailboxes where id = p_mailbox and status = 'active'
  union all
  select login from deleted_mailboxes where id = p_mailbox
  limit 1
$$;

-- The mailboxes that must be on one host with this one: shared mailboxes and their members.
create function mailboxes_together(p_mailbox text) returns table (mailbox_id text)
language sql stable as $$
  with recursive together (id) as (
    select p_mailbox
    union
    select case when m.shared_mailbox_id = t.id then m.email_account_id else m.shared_mailbox_id end
    from together t
    join shared_mailbox_members m on t.id in (m.shared_mailbox_id, m.email_account_id)
  )
  select id from together
$$;

-- Starts moves to a host for those of these mailboxes that are elsewhere and have no open move.
create function move_mailboxes(p_mailboxes text[], p_host text, p_by text)
returns setof mailbox_moves language sql as $$
  insert into mailbox_moves (mailbox_id, organization_id, source_id, target_id, created_by)
  select p.mailbox_id, p.organization_id, p.host_id, p_host, p_by
  from mailbox_places p
  where p.mailbox_id = any (p_mailboxes) and p.host_id <> p_host
  on conflict (mailbox_id) where state in ('waiting', 'copying', 'locked', 'switched') do nothing
  returning *
$$;

-- A member finds a shared mailbox only on its own host, so a new member moves there.
create function gather_members() returns trigger language plpgsql as $$
declare
  shared_host text := (select host_id from mailbox_places where mailbox_id = new.shared_mailbox_id);
begin
  perform move_mailboxes(
    array(select mailbox_id from mailboxes_together(new.email_account_id)), shared_host, null)
  where shared_host is not null;
  return null;
end $$;

create trigger shared_mailbox_members_gather
  after insert on shared_mailbox_members
  for each row execute function gather_members();

-- The place of a mailbox by its login; see edge.mailbox about which logins there are.
create function edge.place(p_user text)
returns table (username text, folder text, quota_rule text, host_id text, locked boolean)
language sql stable security definer set search_path = pg_catalog as $$
  select m.username, m.folder, m.quota_rule, p.host_id, coalesce(p.locked, false)
  from edge.mailbox(p_user) m
  left join public.mailbox_places p on p.mailbox_id = split_part(m.folder, '/', 2)
$$;

-- Where a proxy sends a login; SMTP has no backend. The backend refuses while the mailbox is being moved.
create function edge.route(p_user text, p_service text)
returns table (proxy text, host text, port integer, ssl text, starttls text)
language plpgsql stable security definer set search_path = pg_catalog as $$
declare
  target record;
begin
  if p_service not in ('imap', 'pop3', 'sieve') then
    return query select null::text, null::text, null::integer, null::text, null::text;
    return;
  end if;
  select h.address, h.imap_port, h.pop3_port, h.sieve_port,
    -- The certificate of a host on loopback is self-signed.
    case when h.address ~ '^127\.' then 'any-cert' else 'yes' end as verified
  into target
  from edge.place(p_user) p join public.mail_hosts h on h.id = p.host_id;
  -- An error is a temporary failure; without a row the proxy would look for the mail on its own disk.
  if not found then raise exception 'the mailbox has no mail host'; end if;
  return query select 'y', target.address,
    case p_service when 'imap' then target.imap_port when 'pop3' then target.pop3_port
      else target.sieve_port end,
    case when p_service <> 'sieve' then target.verified end,
    case when p_service = 'sieve' then target.verified end;
end $$;

-- What a backend knows of a mailbox. Only its own host serves it, so that a proxy or a mail queue that is
-- notified late of a move loses no mail: `tempfail` is a temporary failure. doveadm also works on the copy of
-- a host that does not own the mailbox.
create function edge.mailbox_on(p_host text, p_user text, p_service text)
returns table (username text, folder text, quota_rule text, owned boolean, tempfail text)
language sql stable security definer set search_path = pg_catalog as $$
  select p.username, p.folder, case when here then p.quota_rule else '*:bytes=0' end, here,
    case when p_service <> 'doveadm' and (p.locked or not here) then 'yes' end
  from edge.place(p_user) p
  cross join lateral (select exists (
    select from public.mail_hosts where id = p.host_id and name = p_host)) h (here)
$$;

-- Where Postfix delivers mail for a mailbox.
create function edge.transport(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select case
    when h.id is null then 'retry:4.3.0 the mailbox has no mail host'
    when p.locked then 'retry:4.3.0 the mailbox is being moved'
    when h.state = 'away' then 'retry:4.3.0 the mail host is away'
    else 'lmtp:inet:' || case when h.address like '%:%' then '[' || h.address || ']'
      else h.address end || ':' || h.lmtp_port end
  from edge.mailboxes m
  left join public.mailbox_places p on p.mailbox_id = m.id
  left join public.mail_hosts h on h.id = p.host_id
  where m.email = lower(p_address)
$$;

-- An answer for a mailbox that is full, as its backend has counted: hosts that accept mail have no mailboxes.
-- The size of the message is not known here; hardly any is below 4 KB.
create function edge.full_mailbox(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select '552 5.2.2 Mailbox is full'
  from edge.mailboxes m
  join edge.quota_usage u on u.username = m.email
  where m.email = lower(p_address) and m.quota_bytes > 0 and u.bytes > m.quota_bytes - 4096
$$;
