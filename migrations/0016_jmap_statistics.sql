-- Queries about one account are planned by how many rows it has. With the default of a tenth of the
-- table, a new account on a small host counts as empty for days, and its queries are slow.
alter table jmap_emails set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 500);
alter table jmap_places set (autovacuum_analyze_scale_factor = 0.01, autovacuum_analyze_threshold = 500);
