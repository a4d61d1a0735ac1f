-- What the mail servers may ask and write. Postfix and Dovecot log in as a role that can call these
-- functions and change three tables, and nothing else; the tables behind can change without a word
-- of their configuration. The role itself is made when an edge is rendered or started.
create schema edge;
-- Nobody else can name what is in it, now or later.
revoke all on schema edge from public;

comment on schema edge is 'the contract with Postfix and Dovecot; see docs/mail-edge.md';

-- Everything that receives mail, with where it is kept. The folder is named after the id, not the
-- address: who gets a freed address must not find the mail of whoever had it before.
create view edge.mailboxes as
  select m.email, m.id, m.organization_id, d.domain, m.password_hash,
    -- Without a limit of its own, that of the domain applies; 0 is no limit at all.
    case when m.storage_quota > 0 then m.storage_quota else d.max_quota end as quota_bytes
  from public.email_accounts m
  join public.domains d on d.id = m.domain_id and d.active
  join public.organizations o on o.id = m.organization_id and o.active
  where m.status = 'active'
  union all
  select s.email, s.id, s.organization_id, d.domain, null, d.max_quota
  from public.shared_mailboxes s
  join public.domains d on d.id = s.domain_id and d.active
  join public.organizations o on o.id = s.organization_id and o.active
  where s.status = 'active';

create view edge.credentials as
  select c.username, c.secret_hash, c.allowed_ips, c.ip_allowlist_enabled, c.organization_id, d.domain
  from public.smtp_credentials c
  join public.domains d on d.id = c.domain_id and d.active
  join public.organizations o on o.id = c.organization_id and o.active
  where c.active and (c.expires_at is null or c.expires_at > now());

-- A row says: this mailbox may log in, with this password.
create function edge.mailbox_password(p_user text)
returns table (username text, password text)
language sql stable security definer set search_path = pg_catalog as $$
  select email, '{ARGON2ID}' || password_hash
  from edge.mailboxes
  where email = lower(p_user) and password_hash is not null
$$;

-- A row says: this credential may log in, over SMTP and from this address, with this secret.
create function edge.smtp_credential(p_user text, p_service text, p_address text)
returns table (username text, password text)
language sql stable security definer set search_path = pg_catalog as $$
  select c.username, '{BLF-CRYPT}' || c.secret_hash
  from edge.credentials c
  where c.username = lower(p_user)
    and p_service = 'smtp'
    and (
      not c.ip_allowlist_enabled
      or exists (
        select from jsonb_array_elements_text(c.allowed_ips) as network
        -- The zone of a link-local address means nothing here.
        where nullif(split_part(p_address, '%', 1), '')::inet <<= network::inet
      )
    )
$$;

-- Where mail for an address is kept: of the address itself, or else without its +detail.
create function edge.mailbox(p_user text)
returns table (username text, folder text, quota_rule text)
language sql stable security definer set search_path = pg_catalog as $$
  select email, lower(right(id, 2)) || '/' || id, '*:bytes=' || quota_bytes
  from edge.mailboxes
  where email in (lower(p_user), regexp_replace(lower(p_user), '^([^@+]+)\+[^@]*@', '\1@'))
  order by email = lower(p_user) desc
  limit 1
$$;

create function edge.all_mailboxes() returns table (username text)
language sql stable security definer set search_path = pg_catalog as $$
  select email from edge.mailboxes
$$;

create function edge.is_domain(p_name text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select d.domain
  from public.domains d
  join public.organizations o on o.id = d.organization_id and o.active
  where d.domain = lower(p_name) and d.active
$$;

create function edge.is_mailbox(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select email from edge.mailboxes where email = lower(p_address)
$$;

-- Where mail for an address goes. Postfix asks for the address, then without its +detail, then for
-- @domain. A mailbox leads to itself, or a catch-all would take its mail.
create function edge.alias_targets(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select unnest(a.destinations)
  from public.aliases a
  join public.domains d on d.id = a.domain_id and d.active
  join public.organizations o on o.id = a.organization_id and o.active
  where a.source = lower(p_address) and a.active
  union all
  select email from edge.mailboxes where email = lower(p_address)
$$;

-- Which logins may send as an address. @domain, which Postfix asks for as well, has no owner.
create function edge.sender_owners(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select email from edge.mailboxes
  where email = lower(p_address) and password_hash is not null
  union
  select m.email
  from public.aliases a
  join public.domains d on d.id = a.domain_id and d.active
  join edge.mailboxes m on m.email = any (a.destinations)
    -- A stranger to whom an alias leads does not own it.
    and m.organization_id = a.organization_id and m.password_hash is not null
  where a.source = lower(p_address) and a.active and a.source not like '@%'
  union
  select m.email
  from edge.mailboxes s
  join public.shared_mailbox_members g on g.shared_mailbox_id = s.id
    and g.permission in ('full_access', 'send_as', 'send_on_behalf')
  join public.email_accounts a on a.id = g.email_account_id
  join edge.mailboxes m on m.email = a.email
  where s.email = lower(p_address) and s.password_hash is null
  union
  select username from edge.credentials
  where domain = split_part(lower(p_address), '@', 2) and p_address not like '@%'
$$;

-- Whose login ends next.
create index smtp_credentials_by_expires_at on public.smtp_credentials (expires_at)
  where expires_at is not null;

-- What Dovecot counts in a mailbox, written whenever it changes.
create table edge.quota_usage (
  username text primary key,
  bytes bigint not null default 0,
  messages bigint not null default 0,
  updated_at timestamptz not null default now()
);
create index quota_usage_by_updated_at on edge.quota_usage (updated_at);

create function edge.touch_quota_usage() returns trigger language plpgsql as $$
begin
  new.updated_at = now();
  return new;
end $$;
create trigger quota_usage_touch before update on edge.quota_usage
  for each row execute function edge.touch_quota_usage();

-- Who finds which shared mailbox, written by Dovecot when its rights are set.
create table edge.user_shares (
  from_user text not null,
  to_user text not null,
  dummy text default '1',
  primary key (from_user, to_user)
);
create index user_shares_to_user on edge.user_shares (to_user);
create table edge.anyone_shares (from_user text primary key, dummy text default '1');

-- The control plane keeps the mail servers in step; it is told what has changed, whoever changed it.
create function edge.tell() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform pg_notify('mailplane_edge', tg_argv[0] || ':' || (to_jsonb(changed) ->> tg_argv[1]));
  return null;
end $$;

create function edge.tell_dkim() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform pg_notify('mailplane_edge', 'dkim:' || d.domain)
  from public.domains d where d.id = changed.domain_id;
  return null;
end $$;

create trigger dkim_keys_tell_edge
  after insert or update or delete on public.dkim_keys
  for each row execute function edge.tell_dkim();
create trigger domains_tell_edge_dkim
  after update of dkim_enabled or delete on public.domains
  for each row execute function edge.tell('dkim', 'domain');
-- Dovecot remembers logins for an hour. Whoever changes one login says so itself; here it is all of a
-- domain or an organization.
create trigger domains_tell_edge
  after update of active on public.domains
  for each row when (old.active is distinct from new.active)
  execute function edge.tell('domain', 'id');
create trigger organizations_tell_edge
  after update of active on public.organizations
  for each row when (old.active is distinct from new.active)
  execute function edge.tell('organization', 'id');
create trigger shared_mailboxes_tell_edge_login
  after delete or update of status on public.shared_mailboxes
  for each row execute function edge.tell('login', 'email');
