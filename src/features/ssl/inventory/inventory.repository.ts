import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { FoundCertificate } from './certificate-file.ts'

export interface FoundFile {
  path: string
  domain: string
  certificate: FoundCertificate | undefined
  problem: string | null
}

/** The organization that owns one of the names or its parent domain. */
const organizationOf = (names: string[]) => {
  const bare = names.map((name) => name.replace(/^\*\./, ''))
  const candidates = bare.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)])
  return sql<string | null>`(
    select organization_id from domains
    where domain = any(${candidates}::text[]) and ownership_verified_at is not null
    order by length(domain) desc limit 1)`
}

/** Stores a file as a row. */
export async function store(tx: Tx, { path, domain, certificate, problem }: FoundFile, now: Date) {
  const at = now.toISOString()
  const names = certificate?.names ?? []
  const from = certificate?.valid_from ?? null
  const status = problem === null ? 'active' : 'failed'
  await sql`
    insert into certificates (id, domain, names, organization_id, status, issuer, algorithm,
      key_size, error_message, valid_from, valid_until, issued_at, fingerprint, key_hash, self_signed,
      path, updated_at)
    values (${ulid()}, ${domain}, ${names}::text[], ${organizationOf([domain, ...names])},
      ${status}, ${certificate?.issuer ?? null}, ${certificate?.algorithm ?? null},
      ${certificate?.key_size ?? null}, ${problem}, ${from?.toISOString() ?? null},
      ${certificate?.valid_until?.toISOString() ?? null}, ${from?.toISOString() ?? null},
      ${certificate?.fingerprint ?? null}, ${certificate?.key_hash ?? null},
      ${certificate?.self_signed ?? null}, ${path}, ${at})
    on conflict (path) do update set
      domain = excluded.domain,
      names = excluded.names,
      organization_id = coalesce(excluded.organization_id, certificates.organization_id),
      status = excluded.status,
      issuer = excluded.issuer,
      algorithm = excluded.algorithm,
      key_size = excluded.key_size,
      -- Keeps the error of a failed renewal.
      error_message = case when certificates.fingerprint = excluded.fingerprint
        then coalesce(excluded.error_message, certificates.error_message)
        else excluded.error_message end,
      valid_from = excluded.valid_from,
      valid_until = excluded.valid_until,
      issued_at = case when certificates.fingerprint = excluded.fingerprint
        then certificates.issued_at else excluded.issued_at end,
      last_renewed = case when certificates.fingerprint <> excluded.fingerprint
        then ${at}::timestamptz else certificates.last_renewed end,
      fingerprint = excluded.fingerprint,
      key_hash = excluded.key_hash,
      self_signed = excluded.self_signed,
      updated_at = excluded.updated_at
    where certificates.fingerprint is distinct from excluded.fingerprint
      or certificates.status in ('pending', 'failed') or excluded.status = 'failed'`.execute(tx)
}

/** Removes the rows of files that are gone. */
export async function forgetMissing(
  db: Db,
  { folder, files, present }: { folder: string | undefined; files: string[]; present: string[] },
): Promise<void> {
  const inFolder = folder === undefined ? sql`false` : sql`starts_with(path, ${`${folder}/`})`
  const missing = sql<SqlBool>`(${inFolder} or path = any(${files}::text[]))
    and not path = any(${present}::text[])`
  await db.deleteFrom('certificates').where(missing).execute()
}
