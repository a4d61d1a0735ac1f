import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { AuthCache } from './auth-cache.ts'

/** Whose logins Dovecot is to forget: of a domain, of an organization, or of all that are turned off. */
export type Whose = { domain: string } | { organization: string } | 'inactive'

/** True once Dovecot has forgotten them; nobody to forget is a success too. */
export async function forgetLogins(db: Db, cache: AuthCache, whose: Whose): Promise<boolean> {
  const names = await loginsOf(db, whose)
  return names.length === 0 || cache.flush(names)
}

async function loginsOf(db: Db, whose: Whose): Promise<string[]> {
  const meant =
    whose === 'inactive'
      ? sql`not d.active or not o.active`
      : 'domain' in whose
        ? sql`d.id = ${whose.domain}`
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
    where ${meant}`.execute(db)
  return rows.map(({ login }) => login)
}

/** Credentials that have come to their end in the last so many seconds, by the clock of the database. */
export async function endedWithin(db: Db, seconds: number): Promise<string[]> {
  const { rows } = await sql<{ username: string }>`
    select username from smtp_credentials
    where expires_at between now() - make_interval(secs => ${seconds}) and now()`.execute(db)
  return rows.map(({ username }) => username)
}
