-- A domain may have as many mailboxes as a tenant: its lists are read from indexes of their own too.
drop index email_accounts_of_domain;
create index email_accounts_of_domain on email_accounts (domain_id, email, id)
  include (organization_id, status);
create index email_accounts_of_domain_by_created_at on email_accounts (domain_id, created_at, id)
  include (organization_id, status);
create index email_accounts_of_domain_by_storage on email_accounts (domain_id, storage_used, id)
  include (organization_id, status);
create index email_accounts_of_domain_by_login on email_accounts (domain_id, last_login, id)
  include (organization_id, status);

-- A search that finds very much is read in the order of the list, from the index alone.
drop index email_accounts_by_email;
create index email_accounts_by_email on email_accounts (email, id) include (status, search_text);
