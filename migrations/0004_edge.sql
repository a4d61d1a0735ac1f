-- The interface for the mail servers. Postfix and Dovecot log in as a role that can call these functions
-- and change three tables, nothing else, so the tables behind can change without a change of their
-- configuration. The role is created when an edge is rendered or started.
create schema edge;

-- No other role can use the schema.
revoke all on schema edge from public;

comment on schema edge is 'the contract with Postfix and Dovecot; see docs/mail-edge.md';

-- Every mailbox that receives mail: its domain is active and its ownership proven (domains.hosted). The mail folder is named after the id, not the e-mail address, so that
-- the next owner of an address cannot read the mail of the previous one.
create view edge.mailboxes as
  select m.email, m.id, m.organization_id, d.domain, m.password_hash,
    -- Without a limit of its own a mailbox has the limit of its domain; 0 means no limit.
    case when m.storage_quota > 0 then m.storage_quota else d.max_quota end as quota_bytes
  from public.email_accounts m
  join public.domains d on d.id = m.domain_id and d.hosted
  join public.organizations o on o.id = m.organization_id and o.active
  where m.status = 'active'
  union all
  select s.email, s.id, s.organization_id, d.domain, null, d.max_quota
  from public.shared_mailboxes s
  join public.domains d on d.id = s.domain_id and d.hosted
  join public.organizations o on o.id = s.organization_id and o.active
  where s.status = 'active';

-- Mailboxes that were deleted while their mail is still on disk. A job removes the mail after a time, and
-- an erasure before that. Dovecot finds the mail by the login.
create table deleted_mailboxes (
  id text primary key,
  organization_id text not null,
  email text not null,
  login text not null unique generated always as (lower(id) || '@deleted.invalid') stored,
  deleted_at timestamptz not null default now(),
  due_at timestamptz not null default '-infinity',
  attempts integer not null default 0,
  error_message text,
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

comment on column deleted_mailboxes.due_at is 'next attempt after a failed one';

create index deleted_mailboxes_email on deleted_mailboxes (email);
create index deleted_mailboxes_by_time on deleted_mailboxes (deleted_at);

create function note_deleted_mailbox() returns trigger language plpgsql as $$
begin
  insert into public.deleted_mailboxes (id, organization_id, email)
  values (old.id, old.organization_id, old.email)
  on conflict (id) do nothing;
  return null;
end $$;

create trigger email_accounts_note_deleted
  after delete on email_accounts
  for each row execute function note_deleted_mailbox();
-- Deleting a shared mailbox makes it inactive; only its domain deletes the row.
create trigger shared_mailboxes_note_deleted
  after delete on shared_mailboxes
  for each row when (old.status = 'active') execute function note_deleted_mailbox();
create trigger shared_mailboxes_note_inactive
  after update of status on shared_mailboxes
  for each row when (old.status = 'active' and new.status <> 'active')
  execute function note_deleted_mailbox();

create view edge.credentials as
  select c.username, c.secret_hash, c.allowed_ips, c.ip_allowlist_enabled, c.organization_id, d.domain
  from public.smtp_credentials c
  join public.domains d on d.id = c.domain_id and d.hosted
  join public.organizations o on o.id = c.organization_id and o.active
  where c.active and (c.expires_at is null or c.expires_at > now());

-- Returns a row when this mailbox may log in with its password. With a second factor it may not: mail programs
-- cannot send a code. The control plane, which asks for the code itself, may.
create function edge.mailbox_password(p_user text, p_asks_for_code boolean default false)
returns table (username text, password text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, '{ARGON2ID}' || m.password_hash
  from edge.mailboxes m
  where m.email = lower(p_user) and m.password_hash is not null
    and (p_asks_for_code or not exists (
      select from public.totp_enrollments t
      where t.kind = 'mailbox' and t.subject_id = m.id and t.confirmed_at is not null))
$$;

-- Returns a row when this is a password of a mail program and permits the service. `matched` names it, so
-- that the auth policy can note its use.
create function edge.app_password(p_user text, p_hash text, p_service text)
returns table (username text, password text, matched text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, '{SHA256.HEX}' || a.password_hash, 'app-password:' || a.id
  from public.app_passwords a
  join edge.mailboxes m on m.id = a.email_account_id
  where a.password_hash = lower(p_hash) and m.email = lower(p_user)
    and case p_service when 'pop3' then 'imap' else p_service end = any (a.scopes)
$$;

-- Returns a row when this is an access token of the mailbox and permits the service. The answer has the hash
-- of the token, so that Dovecot compares it also from its cache.
create function edge.access_token(p_user text, p_hash text, p_service text)
returns table (username text, password text, matched text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, '{SHA256.HEX}' || i.id_hash, 'grant:' || g.id
  from public.oauth_items i
  join edge.mailboxes m on m.id = i.email_account_id
  join public.oauth_clients c on c.id = i.client_id and c.active
  join public.oauth_items g on g.kind = 'Grant' and g.id_hash = i.grant_hash
  where i.kind = 'AccessToken' and i.id_hash = lower(p_hash) and m.email = lower(p_user)
    and i.expires_at > now() and i.consumed_at is null
    and case p_service when 'pop3' then 'pop' else p_service end = any (i.scopes)
$$;

-- Returns a row when this credential may log in over SMTP from this IP address.
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
        -- Removes the zone of a link-local IP address.
        where nullif(split_part(p_address, '%', 1), '')::inet <<= network::inet
      )
    )
$$;

-- Where the mail of a mailbox is stored, by its e-mail address or else without the +detail. Mailboxes that
-- may not log in are included, and deleted mailboxes by their login: their mail can still be exported,
-- expire and be erased. Logins and deliveries use other functions.
create function edge.mailbox(p_user text)
returns table (username text, folder text, quota_rule text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, lower(right(m.id, 2)) || '/' || m.id, '*:bytes=' || m.quota_bytes
  from (
    select email, id, quota_bytes from edge.mailboxes
    union all
    select a.email, a.id, case when a.storage_quota > 0 then a.storage_quota else d.max_quota end
    from public.email_accounts a
    join public.domains d on d.id = a.domain_id and d.ownership_verified_at is not null
    join public.organizations o on o.id = a.organization_id
    where not (a.status = 'active' and d.active and o.active)
    union all
    select login, id, 0 from public.deleted_mailboxes
  ) as m
  where m.email in (lower(p_user), regexp_replace(lower(p_user), '^([^@+]+)\+[^@]*@', '\1@'))
  order by m.email = lower(p_user) desc
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
  where d.domain = lower(p_name) and d.hosted
$$;

create function edge.is_mailbox(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select email from edge.mailboxes where email = lower(p_address)
$$;

-- The targets of an e-mail address. Postfix looks up the address, then without its +detail, then @domain.
-- A mailbox is its own target; otherwise a catch-all alias would take its mail.
create function edge.alias_targets(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select unnest(a.destinations)
  from public.aliases a
  join public.domains d on d.id = a.domain_id and d.hosted
  join public.organizations o on o.id = a.organization_id and o.active
  where a.source = lower(p_address) and a.active
  union all
  select email from edge.mailboxes where email = lower(p_address)
$$;

-- Logins that may send as an e-mail address. Postfix also looks up @domain, which has no owner.
create function edge.sender_owners(p_address text) returns setof text
language sql stable security definer set search_path = pg_catalog as $$
  select email from edge.mailboxes
  where email = lower(p_address) and password_hash is not null
  union
  select m.email
  from public.aliases a
  join public.domains d on d.id = a.domain_id and d.hosted
  join edge.mailboxes m on m.email = any (a.destinations)
    -- The target of an alias in another organization does not own the alias.
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
  -- A quoted local part may have an @; such an address has no owner.
  where domain = split_part(lower(p_address), '@', -1) and p_address ~ '^[^@]+@[^@]+$'
$$;

-- Dovecot writes the usage of each mailbox here (quota_clone).
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

-- Visibility of shared mailboxes; Dovecot writes it when rights are set.
create table edge.user_shares (
  from_user text not null,
  to_user text not null,
  dummy text default '1',
  primary key (from_user, to_user)
);

create index user_shares_to_user on edge.user_shares (to_user);

create table edge.anyone_shares (
  from_user text primary key,
  dummy text default '1'
);

-- Notifies the control plane of changes that it must pass on to the mail servers.
create function edge.notify_control_plane() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform pg_notify('mailplane_edge', tg_argv[0] || ':' || (to_jsonb(changed) ->> tg_argv[1]));
  return null;
end $$;

create trigger domains_notify_edge_dkim
  after update of dkim_enabled, ownership_verified_at or delete on public.domains
  for each row execute function edge.notify_control_plane('dkim', 'domain');
-- Dovecot caches logins for an hour. The services flush single logins; these triggers cover all logins of a
-- domain or an organization.
create trigger domains_notify_edge
  after update of active, ownership_verified_at on public.domains
  for each row when (old.hosted is distinct from new.hosted)
  execute function edge.notify_control_plane('domain', 'id');
create trigger organizations_notify_edge
  after update of active on public.organizations
  for each row when (old.active is distinct from new.active)
  execute function edge.notify_control_plane('organization', 'id');
create trigger shared_mailboxes_notify_edge_login
  after delete or update of status on public.shared_mailboxes
  for each row execute function edge.notify_control_plane('login', 'email');

create function edge.notify_dkim() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  perform pg_notify('mailplane_edge', 'dkim:' || d.domain)
  from public.domains d where d.id = changed.domain_id;
  return null;
end $$;

create trigger dkim_keys_notify_edge
  after insert or update or delete on public.dkim_keys
  for each row execute function edge.notify_dkim();

-- Mailboxes and domains whose usage or quota changed. A delivery only inserts a mark, because the sums of a
-- domain and its organization are rows that all deliveries would otherwise wait for.
create table storage_pending (
  kind text not null check (kind in ('mailbox', 'domain')),
  name text not null,
  changes bigint not null default 1,
  primary key (kind, name)
);

create trigger storage_pending_notify
  after insert or update on storage_pending
  for each statement execute function notify_chore('storage');

-- Updates an existing mark too: its deletion then waits for this transaction and sees the new figures.
create function mark_storage(p_kind text, p_names text[]) returns void
language sql as $$
  insert into public.storage_pending (kind, name)
  select p_kind, name from unnest(p_names) as name order by name
  on conflict (kind, name) do update set changes = storage_pending.changes + 1
$$;

-- security definer: the role of Dovecot cannot write storage_pending.
create function mark_quota_usage() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if tg_op = 'INSERT' or (old.bytes, old.messages) is distinct from (new.bytes, new.messages) then
    perform public.mark_storage('mailbox', array[lower(new.username)]);
  end if;
  return null;
end $$;

create trigger quota_usage_mark
  after insert or update on edge.quota_usage
  for each row execute function mark_quota_usage();

create function mark_mailbox_quota() returns trigger language plpgsql as $$
begin
  perform mark_storage('mailbox', array[new.email]);
  return null;
end $$;

create trigger email_accounts_mark_quota
  after update of storage_quota, storage_quotas on email_accounts
  for each row
  when ((old.storage_quota, old.storage_quotas) is distinct from (new.storage_quota, new.storage_quotas))
  execute function mark_mailbox_quota();

create function mark_domain_quota() returns trigger language plpgsql as $$
begin
  perform mark_storage('domain', array[new.domain]);
  -- The limit of the domain also applies to its mailboxes without a limit of their own.
  perform mark_storage('mailbox', array(
    select email from email_accounts
    where domain_id = new.id and storage_quota = 0 and storage_used > 0));
  return null;
end $$;

create trigger domains_mark_quota
  after update of max_quota, storage_quotas on domains
  for each row
  when ((old.max_quota, old.storage_quotas) is distinct from (new.max_quota, new.storage_quotas))
  execute function mark_domain_quota();

-- Attachments of mailboxes, counted when they arrive. Nobody reports deleted attachments, so the bytes
-- shrink in proportion when the mailbox does.
create table attachment_usage (
  email text primary key,
  files bigint not null default 0,
  attachments bigint not null default 0,
  bytes bigint not null default 0
);

-- The last storage alert of a mailbox or domain; no row means no alert.
create table storage_alerts (
  entity_type text not null check (entity_type in ('mailbox', 'domain')),
  identifier text not null,
  organization_id text not null references organizations on delete cascade,
  told text not null check (told in ('none', 'warning', 'critical')),
  warning_at timestamptz,
  critical_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (entity_type, identifier)
);

create index storage_alerts_of_organization on storage_alerts (organization_id);
create index storage_alerts_by_updated_at on storage_alerts (updated_at);

-- Usage of domains over time.
create table storage_calculations (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  domain text not null,
  used_bytes bigint not null,
  quota_bytes bigint,
  total_emails bigint not null,
  calculated_at timestamptz not null default now()
);

create index storage_calculations_of_organization on storage_calculations (organization_id);
create index storage_calculations_of_domain on storage_calculations (domain, calculated_at);
create index storage_calculations_by_time on storage_calculations (calculated_at, id);

-- The next owner of the e-mail address starts with no usage and no alerts.
create function forget_mailbox_storage() returns trigger language plpgsql as $$
begin
  delete from edge.quota_usage where username = old.email;
  delete from attachment_usage where email = old.email;
  delete from storage_alerts where entity_type = 'mailbox' and identifier = old.email;
  return null;
end $$;

create trigger email_accounts_forget_storage
  after delete on email_accounts
  for each row execute function forget_mailbox_storage();

create function forget_domain_storage() returns trigger language plpgsql as $$
begin
  delete from storage_alerts where entity_type = 'domain' and identifier = old.domain;
  delete from storage_calculations where domain = old.domain;
  return null;
end $$;

create trigger domains_forget_storage
  after delete on domains
  for each row execute function forget_domain_storage();

-- Shared mailboxes whose rights in Dovecot may differ from their members. Triggers insert the mark in the
-- transaction of the change; it stays until Dovecot has the rights. The key is the e-mail address, because
-- Dovecot has one set of rights for it, also after the mailbox was deleted and created again.
create table shared_mailbox_rights_pending (
  email text primary key,
  changes bigint not null default 1,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

create index shared_mailbox_rights_pending_due on shared_mailbox_rights_pending (due_at);

create trigger shared_mailbox_rights_pending_notify
  after insert or update of changes on shared_mailbox_rights_pending
  for each statement execute function notify_chore('shared-mailbox-rights');

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

-- A member has access only while the mailbox and the member are active.
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

-- Dovecot has no users of an inactive domain or organization, so changes made in that time are applied
-- when it becomes active again.
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
  after update of active, ownership_verified_at on domains
  for each row when (old.hosted is distinct from new.hosted)
  execute function host_of_shared_changed('domain');
create trigger organizations_mark_shared_rights
  after update of active on organizations
  for each row when (old.active is distinct from new.active)
  execute function host_of_shared_changed('organization');

-- Mailboxes whose Sieve scripts may differ from their forwarding and automatic reply. Triggers insert the
-- mark in the transaction of the change; it stays until Dovecot has the scripts.
create table mailbox_scripts_pending (
  email text primary key,
  changes bigint not null default 1,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
);

create index mailbox_scripts_pending_due on mailbox_scripts_pending (due_at);

create trigger mailbox_scripts_pending_notify
  after insert or update of changes on mailbox_scripts_pending
  for each statement execute function notify_chore('mailbox-scripts');

create function mark_mailbox_scripts() returns trigger language plpgsql as $$
begin
  insert into mailbox_scripts_pending (email) values (new.email)
  on conflict (email) do update
    set changes = mailbox_scripts_pending.changes + 1, due_at = now(), attempts = 0;
  return null;
end $$;

create trigger email_accounts_mark_scripts
  after insert on email_accounts
  for each row when (new.forward_enabled or new.vacation_enabled)
  execute function mark_mailbox_scripts();
create trigger email_accounts_mark_changed_scripts
  after update of forward_enabled, forward_destination, vacation_enabled, vacation_message
  on email_accounts
  for each row
  when ((old.forward_enabled, old.forward_destination, old.vacation_enabled, old.vacation_message)
    is distinct from
    (new.forward_enabled, new.forward_destination, new.vacation_enabled, new.vacation_message))
  execute function mark_mailbox_scripts();
create trigger shared_mailboxes_mark_scripts
  after insert on shared_mailboxes
  for each row when (new.auto_reply_enabled)
  execute function mark_mailbox_scripts();
create trigger shared_mailboxes_mark_changed_scripts
  after update of auto_reply_enabled, auto_reply_message on shared_mailboxes
  for each row
  when ((old.auto_reply_enabled, old.auto_reply_message)
    is distinct from (new.auto_reply_enabled, new.auto_reply_message))
  execute function mark_mailbox_scripts();

create function forget_mailbox_scripts() returns trigger language plpgsql as $$
begin
  -- Another organization may have prepared the same address before one of them proved the domain.
  delete from mailbox_scripts_pending where email = old.email
    and not exists (select from email_accounts where email = old.email)
    and not exists (select from shared_mailboxes where email = old.email and status = 'active');
  return null;
end $$;

create trigger email_accounts_forget_scripts
  after delete on email_accounts
  for each row execute function forget_mailbox_scripts();
create trigger shared_mailboxes_forget_scripts
  after delete on shared_mailboxes
  for each row execute function forget_mailbox_scripts();
create trigger shared_mailboxes_forget_inactive_scripts
  after update of status on shared_mailboxes
  for each row when (new.status <> 'active')
  execute function forget_mailbox_scripts();

-- Certificates found in files, and certificates ordered from a CA. A file that cannot be parsed has a row
-- with the error.
create table certificates (
  id text primary key,
  domain text not null,
  names text[] not null default '{}',
  organization_id text references organizations on delete set null,
  status text not null check (status in ('active', 'expired', 'revoked', 'pending', 'failed')),
  issuer text,
  algorithm text,
  key_size integer,
  auto_renew boolean not null default false,
  error_message text,
  valid_from timestamptz,
  valid_until timestamptz,
  issued_at timestamptz,
  last_renewed timestamptz,
  fingerprint text,
  key_hash text,
  next_key_hash text,
  self_signed boolean,
  path text not null unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column certificates.status is
  'of a file: active or failed; readers derive expired and pending from the dates';
comment on column certificates.key_hash is 'SHA-256 of the public key, in hex, as TLSA records name it';
comment on column certificates.next_key_hash is 'the key that the next certificate with a new key has';
comment on column certificates.auto_renew is 'ordered from a CA and renewed before it expires';

create index certificates_organization_id on certificates (organization_id);
create index certificates_domain on certificates (domain, valid_until);
create index certificates_valid_until on certificates (valid_until, id);

create trigger certificates_notify_edge
  after insert or delete or update of fingerprint, status, auto_renew on certificates
  for each row execute function edge.notify_control_plane('certificate', 'id');

-- Accounts at a CA, one for each e-mail address and CA.
create table acme_accounts (
  id text primary key,
  directory_url text not null,
  email text not null,
  account_key bytea not null,
  certs_issued integer not null default 0,
  success_count integer not null default 0,
  failure_count integer not null default 0,
  last_used timestamptz,
  registered_at timestamptz,
  created_at timestamptz not null default now(),
  unique (directory_url, email)
);

comment on column acme_accounts.account_key is 'private key, sealed';
comment on column acme_accounts.certs_issued is 'number of orders; the API fixes the name';

-- Orders at a CA. A process claims an order for a limited time; another process continues after that.
create table acme_orders (
  id text primary key,
  certificate_id text not null references certificates on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  attempts integer not null default 0,
  new_key boolean not null default false,
  next_attempt_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  begun_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now()
);

comment on column acme_orders.new_key is 'an operator asked for it; renewals of the mail host keep their key';

create index acme_orders_certificate_id on acme_orders (certificate_id);
create unique index acme_orders_open on acme_orders (certificate_id)
  where state in ('waiting', 'running');
create index acme_orders_due on acme_orders (next_attempt_at) where state in ('waiting', 'running');
create index acme_orders_begun_at on acme_orders (begun_at);

create trigger acme_orders_notify
  after insert on acme_orders
  for each statement execute function notify_chore('certificates');

-- Served at /.well-known/acme-challenge/{token} by any process.
create table acme_challenges (
  token text primary key,
  key_authorization text not null,
  order_id text not null references acme_orders on delete cascade,
  expires_at timestamptz not null
);

create index acme_challenges_order_id on acme_challenges (order_id);
create index acme_challenges_expires_at on acme_challenges (expires_at);

-- Mailboxes and domains that the mail servers do not know yet. A row is deleted when its work is done.
create table provisioning (
  resource_type text not null check (resource_type in ('mailbox', 'domain')),
  resource_id text not null,
  organization_id text not null,
  status text not null default 'pending' check (status in ('pending', 'failed')),
  error text,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (resource_type, resource_id)
);

create index provisioning_due on provisioning (due_at) where status = 'pending';
create index provisioning_failed on provisioning (updated_at, resource_id) where status = 'failed';

create trigger provisioning_notify
  after insert on provisioning
  for each statement execute function notify_chore('provisioning');

create function begin_provisioning() returns trigger language plpgsql as $$
begin
  insert into provisioning (resource_type, resource_id, organization_id)
  select tg_argv[0], id, organization_id from made on conflict do nothing;
  return null;
end $$;

create trigger email_accounts_provision after insert on email_accounts
  referencing new table as made
  for each statement execute function begin_provisioning('mailbox');
create trigger domains_provision after insert on domains
  referencing new table as made
  for each statement execute function begin_provisioning('domain');

-- The mail servers do not know a pending domain, so its work is due when its ownership is proven.
create function begin_provisioning_of_proven() returns trigger language plpgsql as $$
begin
  insert into provisioning (resource_type, resource_id, organization_id)
  select 'domain', new.id, new.organization_id
  union all
  select 'mailbox', id, organization_id from email_accounts where domain_id = new.id
  on conflict do nothing;
  return null;
end $$;

create trigger domains_provision_proven
  after update of ownership_verified_at on domains
  for each row when (old.ownership_verified_at is null and new.ownership_verified_at is not null)
  execute function begin_provisioning_of_proven();

create function end_provisioning() returns trigger language plpgsql as $$
begin
  delete from provisioning
  where resource_type = tg_argv[0] and resource_id in (select id from gone);
  return null;
end $$;

create trigger email_accounts_unprovision after delete on email_accounts
  referencing old table as gone
  for each statement execute function end_provisioning('mailbox');
create trigger domains_unprovision after delete on domains
  referencing old table as gone
  for each statement execute function end_provisioning('domain');
