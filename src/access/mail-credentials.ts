import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../database/database.ts'

/** The proof with which a mailbox holder or a program of theirs has logged in. */
export type MailCredential =
  /** `mark` is the hash of the stored hash of the password: a new password has another one. */
  | { kind: 'password'; mark: string }
  | { kind: 'app_password'; id: string }
  /** An access token, and the grant that it comes from. */
  | { kind: 'grant'; id: string; tokenHash: string }
  | { kind: 'session'; id: string }

/** True for the mailbox `m` while the credential is right for the service. */
export function isRight(credential: MailCredential, scope: string, now: Date) {
  const time = sql`${now.toISOString()}::timestamptz`
  switch (credential.kind) {
    case 'password':
      return sql<SqlBool>`encode(sha256(convert_to(m.password_hash, 'UTF8')), 'hex') = ${credential.mark}
        and not exists (
          select from totp_enrollments t
          where t.kind = 'mailbox' and t.subject_id = m.id and t.confirmed_at is not null)`
    case 'app_password':
      return sql<SqlBool>`exists (
        select from app_passwords p
        where p.id = ${credential.id} and p.email_account_id = m.id and ${scope} = any(p.scopes))`
    case 'grant':
      return sql<SqlBool>`exists (
        select from oauth_items t
        join oauth_clients c on c.id = t.client_id
        join oauth_items g on g.id_hash = t.grant_hash and g.kind = 'Grant'
        where t.kind = 'AccessToken' and t.id_hash = ${credential.tokenHash}
          and t.email_account_id = m.id and t.expires_at > ${time}
          and c.active and ${scope} = any(t.scopes) and g.id = ${credential.id})`
    case 'session':
      return sql<SqlBool>`exists (
        select from sessions s
        where s.id = ${credential.id} and s.email_account_id = m.id and s.revoked_at is null
          and s.expires_at > ${time} and s.absolute_expiry > ${time})`
  }
}

const TABLES = {
  password: 'email_accounts',
  app_password: 'app_passwords',
  grant: 'oauth_items',
  session: 'sessions',
} as const

/** A change that ends the credential waits for this transaction, or is seen by its next statement. */
export const lockCredential = (tx: Tx, accountId: string, credential: MailCredential) =>
  sql`select from ${sql.table(TABLES[credential.kind])}
    where id = ${credential.kind === 'password' ? accountId : credential.id} for share`.execute(tx)
