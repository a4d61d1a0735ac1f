-- A push subscription belongs to the credential that made it and ends with it (RFC 8620 section 7.2). Without
-- any of these ids it was made with the password of the mailbox, or before they existed.
alter table jmap_push_subscriptions
  add column app_password_id text references app_passwords on delete cascade,
  add column grant_id text references oauth_items on delete cascade,
  add column session_id text references sessions on delete cascade,
  add check (num_nonnulls(app_password_id, grant_id, session_id) <= 1);

create index jmap_push_subscriptions_app_password on jmap_push_subscriptions (app_password_id);
create index jmap_push_subscriptions_grant on jmap_push_subscriptions (grant_id);
create index jmap_push_subscriptions_session on jmap_push_subscriptions (session_id);

create function end_push_of_session() returns trigger language plpgsql as $$
begin
  delete from jmap_push_subscriptions where session_id = new.id;
  return null;
end $$;

create trigger sessions_end_push
  after update of revoked_at on sessions
  for each row when (new.kind = 'mailbox' and old.revoked_at is null and new.revoked_at is not null)
  execute function end_push_of_session();

create function end_push_of_password(p_account_id text) returns void language sql as $$
  delete from jmap_push_subscriptions
  where email_account_id = p_account_id and num_nonnulls(app_password_id, grant_id, session_id) = 0
$$;

create function end_push_of_old_password() returns trigger language plpgsql as $$
begin
  perform end_push_of_password(new.id);
  return null;
end $$;

create trigger email_accounts_end_push
  after update of password_hash on email_accounts
  for each row when (old.password_hash is distinct from new.password_hash)
  execute function end_push_of_old_password();

-- With a second factor the password alone is no credential of programs any more.
create function end_push_of_lone_password() returns trigger language plpgsql as $$
begin
  perform end_push_of_password(new.subject_id);
  return null;
end $$;

create trigger totp_enrollments_end_push
  after update of confirmed_at on totp_enrollments
  for each row when (new.kind = 'mailbox' and old.confirmed_at is null and new.confirmed_at is not null)
  execute function end_push_of_lone_password();
