-- Returns a row when the password of this mailbox may be compared. With a second factor it is not enough: mail
-- programs cannot send a code. Dovecot then compares it, refuses the login and tells the reason to whoever
-- knows the password. Postfix would take the answer for a login, so for SMTP there is no row. The control
-- plane asks for the code itself.
create function edge.mailbox_login(p_user text, p_asks_for_code boolean, p_service text)
returns table (username text, password text, matched text, nologin text, reason text)
language sql stable security definer set search_path = pg_catalog as $$
  select m.email, '{ARGON2ID}' || m.password_hash,
    case when f.is_missing then 'second-factor' else 'yes' end,
    case when f.is_missing then 'yes' end,
    case when f.is_missing then 'This mailbox has a second factor: make an app password on its web pages.' end
  from edge.mailboxes m
  cross join lateral (select not p_asks_for_code and exists (
    select from public.totp_enrollments t
    where t.kind = 'mailbox' and t.subject_id = m.id and t.confirmed_at is not null)) f (is_missing)
  where m.email = lower(p_user) and m.password_hash is not null
    and (not f.is_missing or p_service in ('imap', 'pop3', 'sieve'))
$$;

-- An edge that was set up before keeps asking edge.mailbox_password until `edge up` runs again.
