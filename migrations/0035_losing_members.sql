-- Members whose rights to a shared mailbox are being taken away. They are stored before Dovecot changes the
-- rights, so that their open sessions are ended also when a process dies in between.
alter table shared_mailbox_rights_pending add column losing text[] not null default '{}';

comment on column shared_mailbox_rights_pending.losing is
  'addresses of members whose sessions must end after the change';
