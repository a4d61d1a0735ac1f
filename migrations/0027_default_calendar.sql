-- RFC 6638 section 9.2: the holder chooses the calendar that invitations are added to. The latest choice
-- counts; a deleted calendar leaves it to the choice before, and without one to the usual calendar.
alter table dav_collections add column chosen_at timestamptz;

comment on column dav_collections.chosen_at is
  'when the holder chose this calendar for new invitations';
