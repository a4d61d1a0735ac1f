-- Organizations that belong to another one, and what they may have. Storage is the limit that every
-- organization may have (storage_quotas); users and domains are counted in the row itself by triggers,
-- so the checks below hold whoever writes, and however many at once.
alter table organizations
  add column parent_organization_id text references organizations,
  add column plan_name text check (length(plan_name) between 1 and 100),
  add column max_users integer check (max_users >= 0),
  add column max_domains integer check (max_domains >= 0),
  add constraint organizations_max_users check (email_account_count <= max_users),
  add constraint organizations_max_domains check (domain_count <= max_domains),
  add constraint organizations_own_parent check (parent_organization_id <> id);

create index organizations_of_parent on organizations (parent_organization_id, name, id)
  where parent_organization_id is not null;

-- One level: who belongs to somebody has nobody, so there are no circles.
create function refuse_deep_organization() returns trigger language plpgsql as $$
begin
  if new.parent_organization_id is null then return new; end if;
  perform from organizations where id = new.parent_organization_id
    and parent_organization_id is null for update;
  if not found or exists (select from organizations where parent_organization_id = new.id) then
    raise exception 'organizations belong to each other on one level only'
      using errcode = 'check_violation', constraint = 'organizations_one_level';
  end if;
  return new;
end $$;

create trigger organizations_one_level
  before insert or update of parent_organization_id on organizations
  for each row execute function refuse_deep_organization();

-- Bytes that an organization may give to its domains; null means no limit. As the rules compute it.
create function storage_limit_of(p_quotas jsonb) returns bigint
language sql immutable as $$
  select case when jsonb_typeof(p_quotas -> 'storage_quota_mb') = 'number'
    then floor((p_quotas ->> 'storage_quota_mb')::numeric * 1048576)::bigint end
$$;
