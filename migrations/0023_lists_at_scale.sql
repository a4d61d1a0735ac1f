-- Lists stay quick with hundreds of thousands of rows: a page is found on an index alone, so an index
-- also carries what the list filters by, and every total that a filter alone decides is counted already.

-- What is allotted may add up to more than a bigint holds.
alter table domains
  add column inactive_email_accounts integer not null default 0,
  add column suspended_email_accounts integer not null default 0,
  add column allotted_storage numeric not null default 0;
alter table organizations
  add column inactive_domain_count integer not null default 0,
  add column inactive_email_accounts integer not null default 0,
  add column suspended_email_accounts integer not null default 0;

comment on column domains.allotted_storage is 'sum of storage_quota over the mailboxes';

-- Counted once per statement. Row by row, each row of a bulk insert left another version of the same
-- domain behind, through which the next one had to find its way.
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
    -- Most updates change nothing that is counted; they must not wait for the domain's row.
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
      select row(organization_id, sum(domains), sum(inactive_domains), sum(accounts), sum(inactive), sum(suspended),
        sum(storage), sum(quota))::organization_change
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

drop trigger email_accounts_count on email_accounts;
drop trigger domains_count on domains;
drop function count_email_account();
drop function count_domain();

update domains set
  inactive_email_accounts = sums.inactive,
  suspended_email_accounts = sums.suspended,
  allotted_storage = sums.allotted
from (
  select domain_id, count(*) filter (where status = 'inactive') as inactive,
    count(*) filter (where status = 'suspended') as suspended, sum(storage_quota) as allotted
  from email_accounts group by domain_id
) as sums
where domains.id = sums.domain_id;

update organizations set
  inactive_domain_count = sums.inactive_domains,
  inactive_email_accounts = sums.inactive,
  suspended_email_accounts = sums.suspended
from (
  select organization_id, count(*) filter (where not active) as inactive_domains,
    sum(inactive_email_accounts) as inactive,
    sum(suspended_email_accounts) as suspended
  from domains group by organization_id
) as sums
where organizations.id = sums.organization_id;

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

-- One text to search instead of two columns in any case; the line break keeps them apart.
alter table email_accounts add column search_text text
  generated always as (lower(email || e'\n' || coalesce(name, ''))) stored;

-- With the organization in it, a tenant's search costs as much as the tenant is large.
create extension if not exists btree_gin;
drop index email_accounts_search;
create index email_accounts_search on email_accounts
  using gin (organization_id, search_text gin_trgm_ops);

drop index email_accounts_of_organization;
drop index email_accounts_of_organization_by_created_at;
drop index email_accounts_of_organization_by_storage;
drop index email_accounts_of_organization_by_login;
drop index email_accounts_of_domain;
drop index email_accounts_by_email;
drop index email_accounts_by_created_at;
drop index email_accounts_by_storage;
drop index email_accounts_by_login;
drop index email_accounts_by_status;
create index email_accounts_of_organization
  on email_accounts (organization_id, email, id) include (status);
create index email_accounts_of_organization_by_created_at
  on email_accounts (organization_id, created_at, id) include (status);
create index email_accounts_of_organization_by_storage
  on email_accounts (organization_id, storage_used, id) include (status);
create index email_accounts_of_organization_by_login
  on email_accounts (organization_id, last_login, id) include (status);
create index email_accounts_by_email on email_accounts (email, id) include (status);
create index email_accounts_by_created_at on email_accounts (created_at, id) include (status);
create index email_accounts_by_storage on email_accounts (storage_used, id) include (status);
create index email_accounts_by_login on email_accounts (last_login, id) include (status);
-- Few enough to be sorted: one domain, or those that are not active.
create index email_accounts_of_domain on email_accounts (domain_id, email, id)
  include (organization_id, status, created_at, storage_used, last_login);
create index email_accounts_by_status on email_accounts (status, email, id)
  include (organization_id, created_at, storage_used, last_login) where status <> 'active';

drop index domains_of_organization;
drop index domains_of_organization_by_created_at;
drop index domains_of_organization_by_storage;
drop index domains_by_created_at;
drop index domains_by_storage;
create index domains_of_organization on domains (organization_id, domain, id) include (active);
create index domains_of_organization_by_created_at
  on domains (organization_id, created_at, id) include (active);
create index domains_of_organization_by_storage
  on domains (organization_id, total_storage_used, id) include (active);
create index domains_by_domain on domains (domain, id) include (active, organization_id);
create index domains_by_created_at on domains (created_at, id) include (active);
create index domains_by_storage on domains (total_storage_used, id) include (active);

drop index aliases_of_organization;
create index aliases_of_organization on aliases (organization_id, source, id) include (active);
create index aliases_by_source on aliases (source, id) include (active);

drop index smtp_credentials_of_domain;
create index smtp_credentials_of_domain
  on smtp_credentials (domain_id, created_at, id) include (organization_id);

drop index shared_mailboxes_of_organization;
create index shared_mailboxes_of_organization
  on shared_mailboxes (organization_id, email, id) include (status);
create index shared_mailboxes_by_email on shared_mailboxes (email, id) include (status);

drop index organizations_name;
create index organizations_name
  on organizations (name, id) include (active, total_storage_used, storage_quota);
