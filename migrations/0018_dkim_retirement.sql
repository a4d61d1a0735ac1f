alter table dkim_keys add column retired_at timestamptz;

comment on column dkim_keys.retired_at is
  'when another selector took over; kept a while longer, for mail that is still on its way';
