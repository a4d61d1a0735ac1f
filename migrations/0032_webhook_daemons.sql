-- Who delivers. A daemon that has no lane yet cannot be counted among the owners of lanes, and the
-- others would keep all of them.
create table webhook_daemons (
  id text primary key,
  alive_until timestamptz not null
);
