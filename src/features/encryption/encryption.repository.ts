import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { Whose } from './whose.ts'

/** The rows of an organization, or of one of its mailboxes alone. */
export const rowsOf = ({ organizationId, account }: Whose) =>
  account
    ? sql<SqlBool>`organization_id = ${organizationId} and account_id = ${account.id}`
    : sql<SqlBool>`organization_id = ${organizationId}`

/** Changes of the keys of an address follow each other, so that one of them is preferred. */
export const lockAddress = (tx: Tx, organizationId: string, email: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`pgp ${organizationId} ${email}`}, 0))`.execute(
    tx,
  )

export const findAccount = (db: Db, organizationId: string, email: string) =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .executeTakeFirst()
