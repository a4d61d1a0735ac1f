-- Trigram indexes for searches by a part of a name.
create extension if not exists pg_trgm;

-- Lets a GIN index contain the organization, so that a search reads only the rows of one tenant.
create extension if not exists btree_gin;

-- Every process caches callers. A change that affects access evicts them from all caches, also when it
-- was made by hand in SQL. The payload names the row: "session:<id>".
create function notify_access() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', tg_argv[0] || ':' || old.id);
  return null;
end $$;

-- Wakes the control plane for work that follows a change.
create function notify_chore() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_chores', tg_argv[0]);
  return null;
end $$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

-- A reseller's organizations have a parent. Triggers count users and domains in the row itself, so the
-- limit checks hold for every writer and under concurrency. The storage limit is in storage_quotas.
create table organizations (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,26}$'),
  external_id text unique check (length(external_id) <= 255),
  name text not null check (length(name) between 1 and 255),
  description text,
  active boolean not null default true,
  admin_email text,
  admin_name text,
  settings jsonb not null default '{}',
  rate_limits jsonb not null default '{}',
  storage_quotas jsonb not null default '{}',
  webhook_urls jsonb not null default '[]',
  webhook_secret bytea,
  sending_profile text not null default 'transactional'
    check (sending_profile in ('transactional', 'marketing', 'both')),
  quota_override boolean not null default false,
  quota_override_at timestamptz,
  quota_override_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  domain_count integer not null default 0,
  email_account_count integer not null default 0,
  total_storage_used bigint not null default 0,
  storage_quota bigint not null default 0,
  inactive_domain_count integer not null default 0,
  inactive_email_accounts integer not null default 0,
  suspended_email_accounts integer not null default 0,
  parent_organization_id text references organizations,
  plan_name text check (length(plan_name) between 1 and 100),
  max_users integer check (max_users >= 0),
  max_domains integer check (max_domains >= 0),
  verification_token text not null default replace(gen_random_uuid()::text, '-', ''),
  require_two_factor boolean not null default false,
  constraint organizations_max_users check (email_account_count <= max_users),
  constraint organizations_max_domains check (domain_count <= max_domains),
  constraint organizations_own_parent check (parent_organization_id <> id)
);

comment on column organizations.webhook_secret is 'sealed; never leaves the database in clear';
comment on column organizations.storage_quota is 'sum of max_quota over the domains';
comment on column organizations.external_id is 'set by operators only, unique on the host';
comment on column organizations.require_two_factor is 'dashboard users need a second factor';
comment on column organizations.verification_token is
  'published in the DNS of a domain to prove that the domain belongs to the organization';

create index organizations_created_at on organizations (created_at, id);
create index organizations_domain_count on organizations (domain_count, id);
create index organizations_email_account_count on organizations (email_account_count, id);
create index organizations_total_storage_used on organizations (total_storage_used, id);
create index organizations_search on organizations using gin (name gin_trgm_ops, external_id gin_trgm_ops);
create index organizations_name
  on organizations (name, id) include (active, total_storage_used, storage_quota);
create index organizations_of_parent on organizations (parent_organization_id, name, id)
  where parent_organization_id is not null;

create trigger organizations_notify_access
  after update of active, name or delete on organizations
  for each row execute function notify_access('organization');

-- Triggers maintain the sums that lists show and limits compare, so that a list reads one page and not
-- the whole tenant. Lock order: domain first, organization second. The list indexes include the columns
-- that the lists filter by; each ends with the id, so that the order is stable.
-- allotted_storage is numeric because the sum can exceed a bigint.
-- A domain is a pending claim until its ownership is proven. Several organizations may claim a name; the
-- first proof ends the other claims. A name has one proven owner or any number of pending claims.
create table domains (
  id text primary key,
  organization_id text not null references organizations,
  domain text not null check (domain = lower(domain) and length(domain) <= 253),
  external_id text check (length(external_id) <= 255),
  description text,
  active boolean not null default true,
  verified_at timestamptz,
  max_quota bigint not null default 10737418240 check (max_quota >= 0),
  max_users integer not null default 1000 check (max_users >= 0),
  dkim_enabled boolean not null default true,
  dkim_selector text not null default 'default',
  rate_limits jsonb not null default '{}',
  storage_quotas jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  total_email_accounts integer not null default 0,
  total_storage_used bigint not null default 0,
  total_email_storage bigint not null default 0,
  total_attachment_storage bigint not null default 0,
  total_emails bigint not null default 0,
  total_attachments bigint not null default 0,
  last_storage_calculation timestamptz,
  storage_calculation_time_ms integer,
  rate_usage_data jsonb,
  quota_override boolean not null default false,
  quota_override_at timestamptz,
  quota_override_by text,
  policy_bl_only smallint,
  policy_reject_spam smallint,
  policy_greylist smallint,
  policy_rbl smallint,
  inactive_email_accounts integer not null default 0,
  suspended_email_accounts integer not null default 0,
  allotted_storage numeric not null default 0,
  tracking_enabled boolean not null default true,
  ownership_verified_at timestamptz,
  ownership_checked_at timestamptz,
  ownership_warned_at timestamptz,
  mta_sts_mode text not null default 'testing' check (mta_sts_mode in ('none', 'testing', 'enforce')),
  mta_sts_problem text,
  mta_sts_checked_at timestamptz,
  -- The one definition of what the mail servers, policies and signatures see.
  hosted boolean not null generated always as (active and ownership_verified_at is not null) stored,
  constraint domains_domain_key unique (organization_id, domain),
  constraint domains_external_id_key unique (organization_id, external_id)
);

comment on column domains.allotted_storage is 'sum of storage_quota over the mailboxes';
comment on column domains.ownership_checked_at is 'last look at DNS while the claim is pending';
comment on column domains.ownership_warned_at is 'when the end of the pending claim was announced';
comment on column domains.mta_sts_problem is 'why enforce is served as testing; found at mta_sts_checked_at';
comment on column domains.hosted is 'the mail servers accept, sign and attribute mail of the domain';

create unique index domains_proven on domains (domain) where ownership_verified_at is not null;
create index domains_pending on domains (created_at) where ownership_verified_at is null;

create index domains_search on domains using gin (domain gin_trgm_ops);
create index domains_of_organization on domains (organization_id, domain, id) include (active);
create index domains_of_organization_by_created_at
  on domains (organization_id, created_at, id) include (active);
create index domains_of_organization_by_storage
  on domains (organization_id, total_storage_used, id) include (active);
create index domains_by_domain on domains (domain, id) include (active, organization_id);
create index domains_by_created_at on domains (created_at, id) include (active);
create index domains_by_storage on domains (total_storage_used, id) include (active);
create index domains_inactive on domains (domain, id)
  include (organization_id, created_at, total_storage_used) where not active;

-- search_text joins e-mail address and name for searches; the line break separates them.
create table email_accounts (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains,
  email text not null check (email = lower(email) and length(email) <= 254),
  external_id text check (length(external_id) <= 255),
  name text,
  password_hash text not null,
  status text not null default 'active' check (status in ('active', 'inactive', 'suspended')),
  storage_quota bigint not null default 1073741824 check (storage_quota >= 0),
  storage_used bigint not null default 0,
  must_change_password boolean not null default false,
  password_change_reason text,
  password_changed_at timestamptz,
  last_login timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  attachment_storage_used bigint not null default 0,
  email_storage_used bigint not null default 0,
  total_files bigint not null default 0,
  total_attachments bigint not null default 0,
  total_emails bigint not null default 0,
  rate_limits jsonb not null default '{}',
  storage_quotas jsonb not null default '{}',
  rate_usage_data jsonb,
  forward_enabled boolean not null default false,
  forward_destination text,
  vacation_enabled boolean not null default false,
  vacation_message text,
  last_activity timestamptz,
  last_storage_calculation timestamptz,
  quota_override boolean not null default false,
  quota_override_at timestamptz,
  quota_override_by text,
  search_text text
    generated always as (lower(email || e'\n' || coalesce(name, ''))) stored,
  constraint email_accounts_email_key unique (domain_id, email),
  constraint email_accounts_external_id_key unique (organization_id, external_id)
);

create index email_accounts_by_email on email_accounts (email, id) include (status);
create index email_accounts_by_created_at on email_accounts (created_at, id) include (status);
create index email_accounts_by_storage on email_accounts (storage_used, id) include (status);
create index email_accounts_by_login on email_accounts (last_login, id) include (status);
create index email_accounts_of_organization
  on email_accounts (organization_id, email, id) include (status);
create index email_accounts_of_organization_by_created_at
  on email_accounts (organization_id, created_at, id) include (status);
create index email_accounts_of_organization_by_storage
  on email_accounts (organization_id, storage_used, id) include (status);
create index email_accounts_of_organization_by_login
  on email_accounts (organization_id, last_login, id) include (status);
-- The overview of an organization lists mailboxes that are nearly full.
create index email_accounts_nearly_full on email_accounts (organization_id, email)
  where storage_quota > 0 and storage_used >= storage_quota / 100 * 95;
create index email_accounts_of_domain on email_accounts (domain_id, email, id)
  include (organization_id, status);
-- Has all columns that a list of inactive or suspended mailboxes sorts by: there are few of them.
create index email_accounts_by_status on email_accounts (status, email, id)
  include (organization_id, created_at, storage_used, last_login) where status <> 'active';
create index email_accounts_search on email_accounts using gin (organization_id, search_text gin_trgm_ops);

create trigger email_accounts_notify_access
  after update of status, must_change_password or delete on email_accounts
  for each row execute function notify_access('subject');

-- Register of every e-mail address and login name that the mail servers know. A name has one owner, so a
-- mailbox, an alias, a shared mailbox and an SMTP login cannot shadow each other, also under concurrency.
-- Each pending claim has a register of its own, so that two claims on one domain do not see each other.
create table addresses (
  address text not null check (address = lower(address)),
  claim_id text not null default '',
  kind text not null check (kind in ('mailbox', 'alias', 'shared_mailbox', 'smtp_credential')),
  owner_id text not null unique,
  primary key (address, claim_id)
);

comment on column addresses.claim_id is 'the pending domain of the address; empty once it is proven';

-- The register that an address belongs to. Login names without a domain are unique on the whole host.
create function claim_of(p_address text, p_domain_id text) returns text language plpgsql as $$
begin
  return coalesce((
    select id from domains
    where id = p_domain_id and ownership_verified_at is null and p_address like '%@%'), '');
end $$;

-- The prepared addresses start to work. A proof locks the domain FOR UPDATE, which waits for concurrent
-- inserts: each of them holds a key-share lock on the domain before it registers its address.
create function register_proven() returns trigger language plpgsql as $$
begin
  update addresses set claim_id = '' where claim_id = new.id;
  return null;
end $$;

create trigger domains_register_proven
  after update of ownership_verified_at on domains
  for each row when (old.ownership_verified_at is null and new.ownership_verified_at is not null)
  execute function register_proven();
create index addresses_of_claim on addresses (claim_id) where claim_id <> '';

-- Keeps the register in step with the owning tables for every writer.
create function register_address() returns trigger language plpgsql as $$
declare
  v_address text;
begin
  if tg_op = 'INSERT' then
    v_address := to_jsonb(new) ->> tg_argv[1];
    insert into addresses (address, claim_id, kind, owner_id)
    values (v_address, claim_of(v_address, new.domain_id), tg_argv[0], new.id);
  else
    delete from addresses where owner_id = old.id;
  end if;
  return null;
end $$;

create trigger email_accounts_register
  after insert or delete on email_accounts
  for each row execute function register_address('mailbox', 'email');

create table dkim_keys (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  selector text not null,
  algorithm text not null default 'rsa',
  key_size integer not null,
  public_key text not null,
  private_key bytea not null,
  active boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  retired_at timestamptz,
  unique (domain_id, selector)
);

comment on column dkim_keys.public_key is 'base64, as the p= value of the DNS record';
comment on column dkim_keys.private_key is 'sealed';
comment on column dkim_keys.retired_at is
  'when another selector became active; kept for a while to verify mail under way';

-- One selector signs. The others are not published yet, or still needed to verify mail under way.
create unique index dkim_keys_active on dkim_keys (domain_id) where active;

-- What DNS showed of a domain. A row lasts as long as nothing changes; the newest one is current.
create table dns_checks (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  current boolean not null default true,
  mx text not null check (mx in ('pass', 'missing', 'different', 'unknown')),
  spf text not null check (spf in ('pass', 'missing', 'different', 'unknown')),
  dkim text not null check (dkim in ('pass', 'missing', 'different', 'unknown')),
  dmarc text not null check (dmarc in ('pass', 'missing', 'different', 'unknown')),
  ownership text not null check (ownership in ('pass', 'missing', 'different', 'unknown')),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null
);

-- TLS-RPT (RFC 8460): what other hosts report about TLS of their connections to the domain. Anyone can send
-- a report, so their number per domain and day is limited.
create table tls_reports (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  reporter text not null check (length(reporter) <= 255),
  report_id text not null check (length(report_id) <= 255),
  policy_type text not null check (policy_type in ('sts', 'tlsa', 'no-policy-found')),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  successful bigint not null check (successful >= 0),
  failed bigint not null check (failed >= 0),
  failures jsonb not null default '{}',
  received_at timestamptz not null,
  constraint tls_reports_once unique (domain_id, reporter, report_id, policy_type)
);

comment on column tls_reports.failures is 'failed sessions by result type';

create index tls_reports_of_domain on tls_reports (domain_id, received_at, id);
create index tls_reports_received_at on tls_reports (received_at);

create unique index dns_checks_current on dns_checks (domain_id) where current;
create index dns_checks_of_domain on dns_checks (domain_id, first_seen_at, id);

create table aliases (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade,
  source text not null check (source = lower(source)),
  destination text not null,
  destinations text[] not null check (cardinality(destinations) > 0),
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on column aliases.source is 'an e-mail address, or @domain for all other addresses of the domain';
comment on column aliases.destinations is
  'the e-mail addresses of destination, trimmed and in lower case';

create unique index aliases_source on aliases (domain_id, source);
create index aliases_of_domain on aliases (domain_id, source, id);
create index aliases_destinations on aliases using gin (destinations);
create index aliases_of_organization_by_created_at on aliases (organization_id, created_at, id);
create index aliases_by_created_at on aliases (created_at, id);
create index aliases_search on aliases using gin (source gin_trgm_ops, destination gin_trgm_ops);
create index aliases_of_organization on aliases (organization_id, source, id) include (active);
create index aliases_by_source on aliases (source, id) include (active);

create trigger aliases_register
  after insert or delete on aliases
  for each row execute function register_address('alias', 'source');

create table smtp_credentials (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade,
  username text not null check (length(username) <= 255),
  name text check (length(name) <= 255),
  prefix text,
  secret_hash text not null,
  created_by text check (length(created_by) <= 255),
  allowed_ips jsonb not null default '[]',
  ip_allowlist_enabled boolean not null default false,
  expires_at timestamptz,
  hourly_limit integer check (hourly_limit >= 1),
  daily_limit integer check (daily_limit >= 1),
  last_used_at timestamptz,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  tracking_enabled boolean not null default true
);

comment on column smtp_credentials.secret_hash is 'bcrypt';
comment on column smtp_credentials.last_used_at is 'written only by the log ingestor';

create unique index smtp_credentials_username on smtp_credentials (domain_id, username);
create index smtp_credentials_of_organization on smtp_credentials (organization_id, created_at, id);
create index smtp_credentials_by_created_at on smtp_credentials (created_at, id);
create index smtp_credentials_of_organization_by_username on smtp_credentials (organization_id, username, id);
create index smtp_credentials_by_username on smtp_credentials (username, id);
create index smtp_credentials_of_organization_by_use on smtp_credentials (organization_id, last_used_at, id);
create index smtp_credentials_by_use on smtp_credentials (last_used_at, id);
create index smtp_credentials_search on smtp_credentials using gin (username gin_trgm_ops, name gin_trgm_ops);
create index smtp_credentials_of_domain
  on smtp_credentials (domain_id, created_at, id) include (organization_id);
-- The next login to expire.
create index smtp_credentials_by_expires_at on smtp_credentials (expires_at)
  where expires_at is not null;

create trigger smtp_credentials_register
  after insert or delete on smtp_credentials
  for each row execute function register_address('smtp_credential', 'username');

-- No foreign keys: the trail outlives the credential and the organization.
create table smtp_credential_events (
  id text primary key,
  credential_id text not null,
  organization_id text not null,
  username text not null,
  event text not null check (
    event in ('created', 'updated', 'rotated', 'revoked', 'enabled', 'deleted', 'suspended')
  ),
  actor text not null,
  source_ip text not null,
  detail text,
  created_at timestamptz not null default now()
);

create index smtp_credential_events_of_credential on smtp_credential_events (credential_id, created_at, id);

create trigger smtp_credential_events_append_only
  before update or delete on smtp_credential_events
  for each row execute function refuse_change();
create trigger smtp_credential_events_no_truncate
  before truncate on smtp_credential_events
  for each statement execute function refuse_change();

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

-- A deleted shared mailbox stays as history; its e-mail address can be used again.
create unique index shared_mailboxes_email on shared_mailboxes (email, domain_id) where status = 'active';
create index shared_mailboxes_of_domain on shared_mailboxes (domain_id);
create index shared_mailboxes_search on shared_mailboxes using gin (email gin_trgm_ops, name gin_trgm_ops);
create index shared_mailboxes_of_organization
  on shared_mailboxes (organization_id, email, id) include (status);
create index shared_mailboxes_by_email on shared_mailboxes (email, id) include (status);

create function register_shared_mailbox() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from addresses where owner_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.status = 'active' then
    insert into addresses (address, claim_id, kind, owner_id)
    values (new.email, claim_of(new.email, new.domain_id), 'shared_mailbox', new.id);
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

-- Ends the sessions of mailbox holders when their domain is deactivated.
create function notify_domain() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'organization:' || old.organization_id);
  return null;
end $$;

create trigger domains_notify_access
  after update of active, ownership_verified_at on domains
  for each row when (old.hosted is distinct from new.hosted)
  execute function notify_domain();

-- Counts once per statement. Counting row by row would create one dead version of the domain row for each
-- row of a bulk insert.
create type domain_change as (
  domain_id text,
  accounts integer,
  inactive integer,
  suspended integer,
  allotted numeric,
  storage bigint,
  email_storage bigint,
  attachment_storage bigint,
  emails bigint,
  attachments bigint
);

create function count_email_accounts() returns trigger language plpgsql as $$
declare
  changes domain_change[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select row(domain_id, count(*), count(*) filter (where status = 'inactive'),
        count(*) filter (where status = 'suspended'), sum(storage_quota), sum(storage_used),
        sum(email_storage_used), sum(attachment_storage_used), sum(total_emails),
        sum(total_attachments))::domain_change
      from added group by domain_id);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select row(domain_id, -count(*), -count(*) filter (where status = 'inactive'),
        -count(*) filter (where status = 'suspended'), -sum(storage_quota), -sum(storage_used),
        -sum(email_storage_used), -sum(attachment_storage_used), -sum(total_emails),
        -sum(total_attachments))::domain_change
      from gone group by domain_id);
  end if;
  if tg_op = 'UPDATE' then
    -- Most updates change no sum; they must not wait for the lock on the domain's row.
    changes := array(
      select row(domain_id, sum(accounts), sum(inactive), sum(suspended), sum(allotted),
        sum(storage), sum(email_storage), sum(attachment_storage), sum(emails),
        sum(attachments))::domain_change
      from unnest(changes) group by domain_id
      having (sum(accounts), sum(inactive), sum(suspended), sum(allotted), sum(storage),
        sum(email_storage), sum(attachment_storage), sum(emails), sum(attachments))
        <> (0, 0, 0, 0, 0, 0, 0, 0, 0));
  end if;
  if cardinality(changes) > 0 then
    update domains set
      total_email_accounts = total_email_accounts + accounts,
      inactive_email_accounts = inactive_email_accounts + inactive,
      suspended_email_accounts = suspended_email_accounts + suspended,
      allotted_storage = allotted_storage + allotted,
      total_storage_used = total_storage_used + storage,
      total_email_storage = total_email_storage + email_storage,
      total_attachment_storage = total_attachment_storage + attachment_storage,
      total_emails = total_emails + emails,
      total_attachments = total_attachments + attachments
    from unnest(changes) as change
    where domains.id = change.domain_id;
  end if;
  return null;
end $$;

create trigger email_accounts_count_added
  after insert on email_accounts
  referencing new table as added
  for each statement execute function count_email_accounts();
create trigger email_accounts_count_changed
  after update on email_accounts
  referencing old table as gone new table as added
  for each statement execute function count_email_accounts();
create trigger email_accounts_count_gone
  after delete on email_accounts
  referencing old table as gone
  for each statement execute function count_email_accounts();

create type organization_change as (
  organization_id text,
  domains integer,
  inactive_domains integer,
  accounts integer,
  inactive integer,
  suspended integer,
  storage bigint,
  quota bigint
);

create function count_domains() returns trigger language plpgsql as $$
declare
  changes organization_change[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select row(organization_id, count(*), count(*) filter (where not active), sum(total_email_accounts),
        sum(inactive_email_accounts), sum(suspended_email_accounts), sum(total_storage_used),
        sum(max_quota))::organization_change
      from added group by organization_id);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select row(organization_id, -count(*), -count(*) filter (where not active), -sum(total_email_accounts),
        -sum(inactive_email_accounts), -sum(suspended_email_accounts), -sum(total_storage_used),
        -sum(max_quota))::organization_change
      from gone group by organization_id);
  end if;
  if tg_op = 'UPDATE' then
    changes := array(
      select row(organization_id, sum(domains), sum(inactive_domains), sum(accounts), sum(inactive),
        sum(suspended), sum(storage), sum(quota))::organization_change
      from unnest(changes) group by organization_id
      having (sum(domains), sum(inactive_domains), sum(accounts), sum(inactive), sum(suspended),
        sum(storage), sum(quota)) <> (0, 0, 0, 0, 0, 0, 0));
  end if;
  if cardinality(changes) > 0 then
    update organizations set
      domain_count = domain_count + domains,
      inactive_domain_count = inactive_domain_count + inactive_domains,
      email_account_count = email_account_count + accounts,
      inactive_email_accounts = inactive_email_accounts + inactive,
      suspended_email_accounts = suspended_email_accounts + suspended,
      total_storage_used = total_storage_used + storage,
      storage_quota = storage_quota + quota
    from unnest(changes) as change
    where organizations.id = change.organization_id;
  end if;
  return null;
end $$;

create trigger domains_count_added
  after insert on domains
  referencing new table as added
  for each statement execute function count_domains();
create trigger domains_count_changed
  after update on domains
  referencing old table as gone new table as added
  for each statement execute function count_domains();
create trigger domains_count_gone
  after delete on domains
  referencing old table as gone
  for each statement execute function count_domains();

-- Allows one level only, which rules out cycles.
create function refuse_deep_organization() returns trigger language plpgsql as $$
begin
  if new.parent_organization_id is null then return new; end if;
  perform from organizations where id = new.parent_organization_id
    and parent_organization_id is null for update;
  if not found or exists (select from organizations where parent_organization_id = new.id) then
    raise exception 'organizations belong to each other on one level only'
      using errcode = 'check_violation', constraint = 'organizations_one_level';
  end if;
  return new;
end $$;

create trigger organizations_one_level
  before insert or update of parent_organization_id on organizations
  for each row execute function refuse_deep_organization();

-- Bytes that an organization may allot to its domains; null means no limit. The services compute the
-- limit in the same way.
create function storage_limit_of(p_quotas jsonb) returns bigint
language sql immutable as $$
  select case when jsonb_typeof(p_quotas -> 'storage_quota_mb') = 'number'
    then floor((p_quotas ->> 'storage_quota_mb')::numeric * 1048576)::bigint end
$$;

-- Branding of an organization. Separate from organizations.settings, which tenants write themselves: markup
-- in this table has passed the sanitizer.
create table whitelabel_configs (
  organization_id text primary key references organizations on delete cascade,
  fields jsonb not null default '{}',
  custom_domain text unique check (custom_domain = lower(custom_domain)),
  domain_verified_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
