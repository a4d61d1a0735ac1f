-- Domains that are to be indexed. A process leases one; what a killed one left is leased again.
create table rag_jobs (
  id text primary key,
  organization_id text not null references organizations on delete cascade,
  domain_id text not null references domains on delete cascade,
  full_reindex boolean not null default false,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'complete', 'failed')),
  leased_by text,
  leased_until timestamptz not null default '-infinity',
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

create trigger rag_jobs_tell
  after insert on rag_jobs
  for each statement execute function tell_chore('rag');
