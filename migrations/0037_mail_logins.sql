-- Mail logins are counted by address and login together; a run of failures continues its row.
create index failed_auth_attempts_of_login
  on failed_auth_attempts (client_ip, username, service, last_attempt_at)
  where username is not null and client_ip <> '';
