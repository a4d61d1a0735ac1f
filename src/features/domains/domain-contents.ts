import type { Tx } from '../../database/database.ts'
import { removeCredentialsBy } from '../../hosting/credential-trail.repository.ts'
import * as domains from './domains.repository.ts'
import { removeAccountsOf, removeAliasesOf } from './legacy/legacy.repository.ts'

/** Deletes a domain with its mailboxes, aliases and SMTP logins; the caller has locked it. */
export async function removeWithContents(
  tx: Tx,
  by: { actor: string; source_ip: string },
  id: string,
  now: Date,
) {
  const usernames = await removeCredentialsBy(tx, by, id, now)
  const accounts = await removeAccountsOf(tx, id)
  const aliases = await removeAliasesOf(tx, id)
  await domains.remove(tx, id)
  return {
    counts: { mailboxes_deleted: accounts.length, aliases_deleted: aliases.length },
    /** Their cached logins must be flushed after the commit. */
    logins: [...usernames, ...accounts.map(({ email }) => email)],
  }
}
