-- The console lists failed logins in three orders, and rules in four.
create index failed_auth_attempts_newest on failed_auth_attempts (last_attempt_at, id);
create index failed_auth_attempts_most on failed_auth_attempts (attempt_count, id);
create index failed_auth_attempts_oldest on failed_auth_attempts (first_attempt_at, id);
drop index failed_auth_attempts_last_attempt_at;

create index ip_access_rules_newest on ip_access_rules (created_at, id);
create index geo_policies_newest on geo_policies (created_at, id);

comment on column ip_access_rules.ip_address is 'an address or a network, in the one way we write it';
comment on column ip_access_rules.created_by is 'email of the operator';
