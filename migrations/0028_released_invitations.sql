-- The proof of who wrote a message is found when it arrives. It is kept with a held message, so that an
-- invitation in it reaches the calendar when an operator releases it.
alter table quarantine add column author text;

comment on column quarantine.author is
  'the proven author of a message that may have an invitation; null otherwise';
