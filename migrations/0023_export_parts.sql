-- The sealed archives of data exports. In the database, so that every process can make and serve them.
create table data_export_parts (
  file_name text not null,
  number integer not null,
  export_id text not null references data_exports on delete cascade,
  content bytea not null,
  created_at timestamptz not null default now(),
  primary key (file_name, number)
);

-- Encrypted bytes do not get smaller.
alter table data_export_parts alter column content set storage external;

comment on column data_export_parts.file_name is 'names one attempt to make the archive';

create index data_export_parts_export_id on data_export_parts (export_id);
