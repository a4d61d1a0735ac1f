-- Search settings of an organization; without a row the defaults apply.
create table rag_settings (
  organization_id text primary key references organizations on delete cascade,
  enabled boolean not null default true,
  enabled_fields text[] not null,
  chunk_size integer not null default 1000 check (chunk_size between 200 and 8000),
  chunk_overlap integer not null default 200 check (chunk_overlap >= 0),
  embedding_provider text check (embedding_provider in
    ('lexical', 'sentence_transformers', 'huggingface', 'ollama', 'openai', 'azure_openai')),
  privacy_mode boolean not null default true,
  auto_index boolean not null default false,
  index_schedule text not null default '0 * * * *',
  max_documents integer not null default 1000000 check (max_documents >= 0),
  next_run_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (chunk_overlap < chunk_size)
);

create index rag_settings_due on rag_settings (next_run_at) where auto_index;

-- Domains whose mail may be read and indexed.
create table rag_mail_domains (
  domain_id text primary key references domains on delete cascade,
  organization_id text not null references organizations on delete cascade,
  allowed_at timestamptz not null default now()
);

create index rag_mail_domains_organization on rag_mail_domains (organization_id);

create table rag_collections (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text not null references domains on delete cascade,
  name text not null,
  description text,
  embedding_model text not null,
  created_at timestamptz not null default now()
);

create index rag_collections_domain on rag_collections (domain_id, created_at, id);
create index rag_collections_organization on rag_collections (organization_id, created_at, id);

-- Index progress of the folders of a mailbox.
create table rag_folders (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  email_account_id text not null references email_accounts on delete cascade,
  name text not null,
  uid_validity bigint not null,
  last_uid bigint not null default 0,
  -- The job that started this folder from the beginning; a resumed job does not start it again.
  begun_by text,
  unique (email_account_id, name)
);

create index rag_folders_organization on rag_folders (organization_id);

create table rag_documents (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text not null references domains on delete cascade,
  collection_id text not null references rag_collections on delete cascade,
  source text not null check (source in ('mail', 'api')),
  email_account_id text references email_accounts on delete cascade,
  folder_id bigint references rag_folders on delete cascade,
  uid bigint,
  external_id text,
  message_id text,
  subject text,
  sender text,
  recipients text,
  date timestamptz,
  has_attachment boolean not null default false,
  size_bytes integer not null,
  language text not null,
  content_hash text not null,
  -- Content of documents from the API, for a new index run; mail is read from the mailbox again.
  content text,
  metadata jsonb not null default '{}',
  chunk_count integer not null,
  indexed_at timestamptz not null default now(),
  unique (folder_id, uid),
  unique (collection_id, external_id)
);

create index rag_documents_organization on rag_documents (organization_id, indexed_at, id);
create index rag_documents_domain on rag_documents (domain_id, source);
create index rag_documents_account on rag_documents (email_account_id);
create index rag_documents_date on rag_documents (organization_id, date);

-- A higher target, so that the planner knows the frequent words and starts with the rare ones.
create table rag_chunks (
  id bigint generated always as identity primary key,
  document_id text not null references rag_documents on delete cascade,
  organization_id text not null,
  ordinal integer not null,
  text text not null,
  tsv tsvector not null,
  -- One signed byte per dimension.
  vector bytea not null,
  model text not null
);

create index rag_chunks_document on rag_chunks (document_id);
create index rag_chunks_organization on rag_chunks (organization_id);
create index rag_chunks_tsv on rag_chunks using gin (tsv) with (fastupdate = off);
-- A higher target, so that the planner knows the frequent words and starts with the rare ones.
alter table rag_chunks alter column tsv set statistics 500;

-- The signs of the dimensions only, small enough to scan all rows of an organization.
create table rag_signatures (
  chunk_id bigint primary key references rag_chunks on delete cascade,
  document_id text not null,
  organization_id text not null,
  model text not null,
  bits bit(512) not null
);

create index rag_signatures_organization on rag_signatures (organization_id);

-- Languages of an organization's text; a query is run in all of them.
create table rag_languages (
  organization_id text not null references organizations on delete cascade,
  language text not null,
  primary key (organization_id, language)
);

-- Index jobs. A process claims one domain at a time.
create table rag_jobs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text not null references domains on delete cascade,
  full_reindex boolean not null default false,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'complete', 'failed')),
  lease_owner text,
  lease_until timestamptz not null default '-infinity',
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  documents_indexed integer not null default 0,
  chunks_created integer not null default 0,
  documents_removed integer not null default 0,
  error text,
  created_at timestamptz not null default now(),
  begun_at timestamptz,
  ended_at timestamptz
);

create unique index rag_jobs_pending on rag_jobs (domain_id) where status = 'pending';
create unique index rag_jobs_running on rag_jobs (domain_id) where status = 'running';
create index rag_jobs_open on rag_jobs (due_at) where status in ('pending', 'running');
create index rag_jobs_domain on rag_jobs (domain_id, created_at);
create index rag_jobs_organization on rag_jobs (organization_id);

create trigger rag_jobs_notify
  after insert on rag_jobs
  for each statement execute function notify_chore('rag');
