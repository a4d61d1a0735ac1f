-- Most rows are of keys and name no operator and no organization: what is empty is not looked for.
drop index operator_audit_operator_id;
drop index operator_audit_operator_email;
drop index operator_audit_organization_id;
create index operator_audit_operator_id on operator_audit (operator_id, id)
  where operator_id is not null;
create index operator_audit_operator_email on operator_audit (operator_email, id)
  where operator_email is not null;
create index operator_audit_organization_id on operator_audit (organization_id, id)
  where organization_id is not null;
