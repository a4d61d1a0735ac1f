-- Certificates that were obtained here are in the database, so that every machine has them. Their path
-- is the name of the file that each machine keeps in its folder of certificates.
alter table certificates add column sealed_content bytea;
alter table certificates add column sealed_next_key bytea;

comment on column certificates.sealed_content is
  'key and chain in PEM, sealed; null for a file that was found, and before the first certificate';
comment on column certificates.sealed_next_key is 'the private key of next_key_hash, sealed';
comment on column certificates.path is
  'the path of a file that was found, or the name of the file of a certificate that was obtained';

update certificates set auto_renew = false
where auto_renew and exists (
  select from certificates newer
  where newer.domain = certificates.domain and newer.auto_renew and newer.id > certificates.id);
update certificates set path = domain || '.pem' where auto_renew;
