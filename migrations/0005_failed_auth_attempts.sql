-- Collapsed counters: one row per run of failures in a window. Logins write two rows, one for the
-- address they came from (username null) and one for the account (client_ip empty).
create table failed_auth_attempts (
  id text primary key,
  client_ip text not null,
  username text,
  service text not null,
  failure_reason text,
  attempt_count integer not null default 1,
  first_attempt_at timestamptz not null,
  last_attempt_at timestamptz not null,
  blocked_until timestamptz
);

create index failed_auth_attempts_client_ip
  on failed_auth_attempts (client_ip, service, last_attempt_at);
create index failed_auth_attempts_username
  on failed_auth_attempts (username, service, last_attempt_at);
create index failed_auth_attempts_last_attempt_at on failed_auth_attempts (last_attempt_at);

create function tell_block() returns trigger language plpgsql as $$
begin
  perform pg_notify('mailplane_access', 'block:' || coalesce(new.client_ip, old.client_ip));
  return null;
end $$;

create trigger failed_auth_attempts_tell_block
  after update of blocked_until on failed_auth_attempts
  for each row when (new.client_ip <> '' and new.blocked_until is distinct from old.blocked_until)
  execute function tell_block();
create trigger failed_auth_attempts_tell_new_block
  after insert on failed_auth_attempts
  for each row when (new.client_ip <> '' and new.blocked_until is not null)
  execute function tell_block();
create trigger failed_auth_attempts_tell_lifted_block
  after delete on failed_auth_attempts
  for each row when (old.client_ip <> '' and old.blocked_until is not null)
  execute function tell_block();
