import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { claimRows, heldBy, type Lease, releaseLease, setReleased } from '../../../jobs/lease.ts'

export interface EndedLogin {
  /** An address, or `*@DOMAIN`. */
  login: string
  changes: number
  attempts: number
}

/** Claims entries that are due. */
export const claim = (db: Db, lease: Lease, limit: number): Promise<EndedLogin[]> =>
  claimRows<EndedLogin>(db, 'ended_logins', lease, {
    key: ['login'],
    where: sql`due_at <= now()`,
    orderBy: sql`due_at, login`,
    limit,
    returning: sql`login, changes, attempts`,
  })

/** An entry that was marked again in the meantime stays and is due at once. */
export async function finish(db: Db, { login, changes }: EndedLogin, lease: Lease): Promise<void> {
  const { numAffectedRows } = await sql`delete from ended_logins
    where login = ${login} and changes = ${changes} and ${heldBy(lease)}`.execute(db)
  // A separate statement, because the first one does not see a mark that it waited for.
  if (!numAffectedRows) await releaseLease(db, 'ended_logins', { login }, lease)
}

export const postpone = (db: Db, login: string, lease: Lease, seconds: number) =>
  sql`update ended_logins
    set attempts = attempts + 1, due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
    where login = ${login} and ${heldBy(lease)}`.execute(db)
