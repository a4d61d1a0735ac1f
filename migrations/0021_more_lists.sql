-- Searching and sorting in the lists of SMTP credentials, aliases and shared mailboxes.
create index smtp_credentials_of_organization_by_username on smtp_credentials (organization_id, username, id);
create index smtp_credentials_by_username on smtp_credentials (username, id);
create index smtp_credentials_of_organization_by_use on smtp_credentials (organization_id, last_used_at, id);
create index smtp_credentials_by_use on smtp_credentials (last_used_at, id);
create index smtp_credentials_search on smtp_credentials using gin (username gin_trgm_ops, name gin_trgm_ops);

create index aliases_of_organization_by_created_at on aliases (organization_id, created_at, id);
create index aliases_by_created_at on aliases (created_at, id);
create index aliases_search on aliases using gin (source gin_trgm_ops, destination gin_trgm_ops);

create index shared_mailboxes_search on shared_mailboxes using gin (email gin_trgm_ops, name gin_trgm_ops);
