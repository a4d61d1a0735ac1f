-- Calendars, task lists and address books of mailboxes and shared mailboxes.
-- seq counts the changes of a collection: a sync token is the collection with its seq. Every write locks
-- the row of the collection first, so that changes become visible in the order of their seq.
create table dav_collections (
  id text primary key,
  organization_id text not null references organizations,
  account_id text references email_accounts on delete cascade,
  shared_mailbox_id text references shared_mailboxes on delete cascade,
  kind text not null check (kind in ('calendar', 'addressbook')),
  uri text not null check (length(uri) between 1 and 255),
  properties jsonb not null default '{}',
  components text[] not null default '{VEVENT,VTODO,VJOURNAL,VFREEBUSY}',
  seq bigint not null default 1,
  forgotten_seq bigint not null default 0,
  object_count integer not null default 0,
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  constraint dav_collections_owner check (num_nonnulls(account_id, shared_mailbox_id) = 1)
);

comment on column dav_collections.uri is 'the last segment of its path';
comment on column dav_collections.properties is 'XML of the properties that clients have set, by name';
comment on column dav_collections.forgotten_seq is
  'the newest deletion whose row was removed; an older sync token is no longer valid';

create unique index dav_collections_of_account on dav_collections (account_id, kind, uri)
  where account_id is not null;
create unique index dav_collections_of_shared_mailbox
  on dav_collections (shared_mailbox_id, kind, uri) where shared_mailbox_id is not null;
create index dav_collections_of_organization on dav_collections (organization_id);

-- A deleted object stays for a while as a row without data, for clients that synchronize later.
create table dav_objects (
  collection_id text not null references dav_collections on delete cascade,
  uri text not null check (length(uri) between 1 and 255),
  etag text not null,
  data text not null,
  size integer not null,
  uid text not null check (octet_length(uid) between 1 and 1024),
  component text,
  first_at bigint,
  last_at bigint,
  seq bigint not null,
  gone boolean not null default false,
  modified_at timestamptz not null default now(),
  primary key (collection_id, uri)
);

comment on column dav_objects.data is 'as the client sent it; empty when the object is gone';
comment on column dav_objects.first_at is
  'start of the first instance in seconds since 1970; never after it, possibly before';
comment on column dav_objects.last_at is
  'end of the last instance in seconds since 1970; never before it, possibly after';

create unique index dav_objects_uid on dav_objects (collection_id, uid) where not gone;
create index dav_objects_seq on dav_objects (collection_id, seq);
create index dav_objects_range on dav_objects (collection_id, component, last_at, first_at) where not gone;
create index dav_objects_gone on dav_objects (modified_at) where gone;

-- Versions that a legal hold keeps: what was changed or deleted while it covered the owner.
create table dav_kept_objects (
  id text primary key default replace(gen_random_uuid()::text, '-', ''),
  organization_id text not null references organizations on delete cascade,
  account_id text,
  email text not null,
  kind text not null check (kind in ('calendar', 'addressbook')),
  collection text not null,
  uri text not null,
  data text not null,
  modified_at timestamptz not null
);

create index dav_kept_objects_of_address on dav_kept_objects (email);
create index dav_kept_objects_of_organization on dav_kept_objects (organization_id);

create function keep_dav_object(object dav_objects) returns void language sql as $$
  insert into dav_kept_objects
    (organization_id, account_id, email, kind, collection, uri, data, modified_at)
  select c.organization_id, c.account_id, owner.email, c.kind, c.uri, object.uri, object.data,
    object.modified_at
  from dav_collections c
  cross join lateral (
    select email from email_accounts where id = c.account_id
    union all
    select email from shared_mailboxes where id = c.shared_mailbox_id
  ) as owner
  where c.id = object.collection_id and is_held(c.organization_id, owner.email, now())
$$;

create function keep_held_dav_object() returns trigger language plpgsql as $$
begin
  perform keep_dav_object(old);
  return case tg_op when 'DELETE' then old else new end;
end $$;

create trigger dav_objects_keep_changed
  before update of data on dav_objects
  for each row when (not old.gone and (new.data <> old.data or new.gone))
  execute function keep_held_dav_object();
create trigger dav_objects_keep_deleted
  before delete on dav_objects
  for each row when (not old.gone)
  execute function keep_held_dav_object();

-- The rows of the objects are deleted after the collection, when its owner can no longer be found.
create function keep_held_dav_collection() returns trigger language plpgsql as $$
begin
  perform keep_dav_object(o) from dav_objects o where o.collection_id = old.id and not o.gone;
  return old;
end $$;

create trigger dav_collections_keep_deleted
  before delete on dav_collections
  for each row execute function keep_held_dav_collection();
