-- With the text that is searched: a search that finds much walks this index and needs no row.
drop index email_accounts_of_organization;
create index email_accounts_of_organization
  on email_accounts (organization_id, email, id) include (status, search_text);
