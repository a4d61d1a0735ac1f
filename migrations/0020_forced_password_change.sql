-- A forced change of password holds from the holder's next request on, and ends with the change.
drop trigger email_accounts_tell_access on email_accounts;

create trigger email_accounts_tell_access
  after update of status, must_change_password or delete on email_accounts
  for each row execute function tell_access('subject');
