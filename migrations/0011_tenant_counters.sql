-- Sums that lists show and limits are measured by. Kept by triggers, so that they are right whoever
-- writes; a list then reads a page, not a tenant. Locks are taken domain first, organization second.
alter table domains
  add column total_email_accounts integer not null default 0,
  add column total_storage_used bigint not null default 0,
  add column total_email_storage bigint not null default 0,
  add column total_attachment_storage bigint not null default 0,
  add column total_emails bigint not null default 0,
  add column total_attachments bigint not null default 0,
  add column last_storage_calculation timestamptz,
  add column storage_calculation_time_ms integer,
  add column rate_usage_data jsonb;

alter table organizations
  add column domain_count integer not null default 0,
  add column email_account_count integer not null default 0,
  add column total_storage_used bigint not null default 0,
  add column storage_quota bigint not null default 0;

comment on column organizations.storage_quota is 'sum of max_quota over the domains';

alter table email_accounts
  add column attachment_storage_used bigint not null default 0,
  add column email_storage_used bigint not null default 0,
  add column total_files bigint not null default 0,
  add column total_attachments bigint not null default 0,
  add column total_emails bigint not null default 0,
  add column rate_limits jsonb not null default '{}',
  add column storage_quotas jsonb not null default '{}',
  add column rate_usage_data jsonb,
  add column forward_enabled boolean not null default false,
  add column forward_destination text,
  add column vacation_enabled boolean not null default false,
  add column vacation_message text,
  add column last_activity timestamptz,
  add column last_storage_calculation timestamptz,
  add column quota_override boolean not null default false,
  add column quota_override_at timestamptz,
  add column quota_override_by text;

alter table domains
  add column quota_override boolean not null default false,
  add column quota_override_at timestamptz,
  add column quota_override_by text,
  add column policy_bl_only smallint,
  add column policy_reject_spam smallint,
  add column policy_greylist smallint,
  add column policy_rbl smallint;

create function count_email_account() returns trigger language plpgsql as $$
begin
  update domains set
    total_email_accounts = total_email_accounts + (tg_op = 'INSERT')::int - (tg_op = 'DELETE')::int,
    total_storage_used = total_storage_used + coalesce(new.storage_used, 0) - coalesce(old.storage_used, 0),
    total_email_storage =
      total_email_storage + coalesce(new.email_storage_used, 0) - coalesce(old.email_storage_used, 0),
    total_attachment_storage = total_attachment_storage
      + coalesce(new.attachment_storage_used, 0) - coalesce(old.attachment_storage_used, 0),
    total_emails = total_emails + coalesce(new.total_emails, 0) - coalesce(old.total_emails, 0),
    total_attachments =
      total_attachments + coalesce(new.total_attachments, 0) - coalesce(old.total_attachments, 0)
  where id = coalesce(new.domain_id, old.domain_id);
  return null;
end $$;

create function count_domain() returns trigger language plpgsql as $$
begin
  update organizations set
    domain_count = domain_count + (tg_op = 'INSERT')::int - (tg_op = 'DELETE')::int,
    email_account_count = email_account_count
      + coalesce(new.total_email_accounts, 0) - coalesce(old.total_email_accounts, 0),
    total_storage_used =
      total_storage_used + coalesce(new.total_storage_used, 0) - coalesce(old.total_storage_used, 0),
    storage_quota = storage_quota + coalesce(new.max_quota, 0) - coalesce(old.max_quota, 0)
  where id = coalesce(new.organization_id, old.organization_id);
  return null;
end $$;

update domains set (total_email_accounts, total_storage_used) = (
  select count(*), coalesce(sum(storage_used), 0) from email_accounts where domain_id = domains.id
);
update organizations set (domain_count, email_account_count, total_storage_used, storage_quota) = (
  select count(*), coalesce(sum(total_email_accounts), 0), coalesce(sum(total_storage_used), 0),
    coalesce(sum(max_quota), 0)
  from domains where organization_id = organizations.id
);

create trigger email_accounts_count
  after insert or delete or update of storage_used, email_storage_used,
    attachment_storage_used, total_emails, total_attachments
  on email_accounts
  for each row execute function count_email_account();

create trigger domains_count
  after insert or delete or update of total_email_accounts, total_storage_used, max_quota
  on domains
  for each row execute function count_domain();
