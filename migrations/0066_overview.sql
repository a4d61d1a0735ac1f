-- The overview counts these every few seconds; each count reads its own rows and no others.
create index operator_audit_denied on operator_audit (created_at) where status_code in (401, 403);
create index webhook_dead_letters_open on webhook_dead_letters (organization_id) where status <> 'resolved';
