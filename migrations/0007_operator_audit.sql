create table operator_audit (
  id bigint generated always as identity primary key,
  operator_id text,
  operator_email text,
  caller_scope text check (caller_scope in ('platform', 'organization')),
  action text not null,
  target_type text,
  target_id text,
  organization_id text,
  request_body jsonb,
  result text not null check (result in ('success', 'failure')),
  status_code integer not null,
  ip_address text not null,
  correlation_id text,
  created_at timestamptz not null default now()
);

create index operator_audit_created_at on operator_audit (created_at);
create index operator_audit_operator_id on operator_audit (operator_id, id);
create index operator_audit_operator_email on operator_audit (operator_email, id);
create index operator_audit_action on operator_audit (action, id);
create index operator_audit_target on operator_audit (target_type, target_id, id);
create index operator_audit_organization_id on operator_audit (organization_id, id);
create index operator_audit_correlation_id on operator_audit (correlation_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger operator_audit_append_only
  before update or delete on operator_audit
  for each row execute function refuse_change();
create trigger operator_audit_no_truncate
  before truncate on operator_audit
  for each statement execute function refuse_change();
