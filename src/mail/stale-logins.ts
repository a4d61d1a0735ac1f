import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { AuthCache } from './auth-cache.ts'

/** The logins of a domain, of an organization, or of all inactive domains and organizations. */
export type Whose =
  | { domain: string }
  | { domainName: string }
  | { organization: string }
  | 'inactive'

/** Flushes the logins from Dovecot's cache. Returns true also when there are none. */
export async function forgetLogins(db: Db, cache: AuthCache, whose: Whose): Promise<boolean> {
  const names = await loginsOf(db, whose)
  return names.length === 0 || cache.flush(names)
}

async function loginsOf(db: Db, whose: Whose): Promise<string[]> {
  const condition =
    whose === 'inactive'
      ? sql`not d.hosted or not o.active`
      : 'domain' in whose
        ? sql`d.id = ${whose.domain}`
        : 'domainName' in whose
          ? sql`d.domain = ${whose.domainName}`
          : sql`o.id = ${whose.organization}`
  const { rows } = await sql<{ login: string }>`
    select logins.login
    from domains d
    join organizations o on o.id = d.organization_id
    cross join lateral (
      select email from email_accounts where domain_id = d.id
      union all
      select email from shared_mailboxes where domain_id = d.id and status = 'active'
      union all
      select username from smtp_credentials where domain_id = d.id
    ) as logins (login)
    where ${condition}`.execute(db)
  return rows.map(({ login }) => login)
}

/** The time that Dovecot keeps a login in its cache: `auth_cache_ttl`. */
const CACHED = '1 hour'
/** A login that began just before the end of its credential may be cached just after it. */
const OVERLAP = '2 seconds'

/**
 * Logins whose credential or access token expired since the last look, and the time of this look by
 * the clock of the database. Without a last look: those that may still be cached.
 */
export async function endedSince(
  db: Db,
  lastLook: string | undefined,
): Promise<{ names: string[]; lookedAt: string }> {
  const since =
    lastLook === undefined
      ? sql`now() - ${CACHED}::interval`
      : sql`${lastLook}::timestamptz - ${OVERLAP}::interval`
  const { rows } = await sql<{ names: string[]; lookedAt: string }>`
    select now()::text as "lookedAt", array(
      select username from smtp_credentials where expires_at between ${since} and now()
      union
      select m.email from oauth_items t join email_accounts m on m.id = t.email_account_id
      where t.kind = 'AccessToken' and t.expires_at between ${since} and now()
    ) as names`.execute(db)
  return rows[0] as { names: string[]; lookedAt: string }
}
