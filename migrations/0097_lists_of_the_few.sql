-- Those that are not active, in every order, of all or of one organization; sorting them took as long
-- as all the rest of a request.
create index email_accounts_by_status_and_age on email_accounts (status, created_at, id)
  where status <> 'active';
create index email_accounts_by_status_and_storage on email_accounts (status, storage_used, id)
  where status <> 'active';
create index email_accounts_by_status_and_login on email_accounts (status, last_login, id)
  where status <> 'active';
create index email_accounts_of_organization_by_status
  on email_accounts (organization_id, status, email, id) where status <> 'active';
create index domains_inactive on domains (domain, id)
  include (organization_id, created_at, total_storage_used) where not active;
