-- What must not leave an organization, or come in, and what is done about it. Operators write these.
create table dlp_policies (
  id integer generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  policy_type text not null default 'keyword'
    check (policy_type in ('pii', 'keyword', 'regex', 'file_type')),
  patterns jsonb not null,
  action text not null default 'notify'
    check (action in ('block', 'quarantine', 'encrypt', 'notify', 'log_only')),
  severity text not null default 'medium'
    check (severity in ('low', 'medium', 'high', 'critical')),
  enabled boolean not null default true,
  apply_to text not null default 'outbound' check (apply_to in ('inbound', 'outbound', 'both')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index dlp_policies_name on dlp_policies (organization_id, name);

create trigger dlp_policies_tell
  after insert or update or delete on dlp_policies
  for each row execute function tell_organization('mailplane_dlp_policies');

-- No foreign key to the policy: what happened stays known when the policy goes.
create table dlp_violations (
  id bigint generated always as identity primary key,
  organization_id text not null references organizations on delete cascade,
  policy_id integer not null,
  message_id text,
  sender text not null,
  recipient text,
  violation_type text not null,
  action_taken text not null,
  severity text not null,
  has_match boolean not null,
  matched_pattern text,
  details jsonb,
  created_at timestamptz not null default now()
);

comment on column dlp_violations.matched_pattern is 'of the policy; never read by the API. Matched text is not stored at all';
comment on column dlp_violations.details is 'where it was found; never read by the API';

create index dlp_violations_created_at on dlp_violations (created_at, id);
create index dlp_violations_of_organization on dlp_violations (organization_id, created_at, id);
create index dlp_violations_of_policy on dlp_violations (policy_id, created_at);
