-- What a person browses: by organization or over all of them, by every column a list sorts by, and
-- by a part of a name. Each list ends with the id, so that its order is stable.
create extension if not exists pg_trgm;

drop index domains_organization_id;
drop index email_accounts_organization_id;
drop index email_accounts_domain_id;

create index organizations_name on organizations (name, id);
create index organizations_created_at on organizations (created_at, id);
create index organizations_domain_count on organizations (domain_count, id);
create index organizations_email_account_count on organizations (email_account_count, id);
create index organizations_total_storage_used on organizations (total_storage_used, id);
create index organizations_search on organizations using gin (name gin_trgm_ops, external_id gin_trgm_ops);

create index domains_of_organization on domains (organization_id, domain, id);
create index domains_of_organization_by_created_at on domains (organization_id, created_at, id);
create index domains_of_organization_by_storage on domains (organization_id, total_storage_used, id);
create index domains_by_created_at on domains (created_at, id);
create index domains_by_storage on domains (total_storage_used, id);
create index domains_search on domains using gin (domain gin_trgm_ops);

create index email_accounts_of_organization on email_accounts (organization_id, email, id);
create index email_accounts_of_organization_by_created_at on email_accounts (organization_id, created_at, id);
create index email_accounts_of_organization_by_storage on email_accounts (organization_id, storage_used, id);
create index email_accounts_of_organization_by_login on email_accounts (organization_id, last_login, id);
create index email_accounts_of_domain on email_accounts (domain_id, email, id);
create index email_accounts_by_email on email_accounts (email, id);
create index email_accounts_by_created_at on email_accounts (created_at, id);
create index email_accounts_by_storage on email_accounts (storage_used, id);
create index email_accounts_by_login on email_accounts (last_login, id);
create index email_accounts_by_status on email_accounts (status, email, id) where status <> 'active';
create index email_accounts_search on email_accounts using gin (email gin_trgm_ops, name gin_trgm_ops);
