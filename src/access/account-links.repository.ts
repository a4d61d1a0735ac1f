import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'

export type LinkKind = 'invitation' | 'password_reset'

/** A dashboard user or an operator. */
export type Person = { user_id: string } | { operator_id: string }

const belongsTo = (person: Person) =>
  'user_id' in person
    ? sql<SqlBool>`user_id = ${person.user_id}`
    : sql<SqlBool>`operator_id = ${person.operator_id}`

interface NewLink {
  id: string
  kind: LinkKind
  token_hash: string
  sealed_token: Buffer | null
  mail_status: 'pending' | 'none'
  expires_at: string
  created_at: string
}

/** A person has one link at a time: a new one replaces the earlier one. */
export async function replaceLink(tx: Tx, person: Person, link: NewLink): Promise<void> {
  await removeLinks(tx, person)
  await tx
    .insertInto('account_links')
    .values({ ...link, ...person })
    .execute()
}

export const removeLinks = (tx: Tx, person: Person) =>
  tx.deleteFrom('account_links').where(belongsTo(person)).execute()

/** A link that has not expired, of a person who may sign in. */
export const findLink = (db: Db, tokenHash: string, now: Date) =>
  db
    .selectFrom('account_links as l')
    .leftJoin('dashboard_users as u', 'u.id', 'l.user_id')
    .leftJoin('organizations as g', 'g.id', 'u.organization_id')
    .leftJoin('operators as o', 'o.id', 'l.operator_id')
    .select([
      'l.id',
      'l.kind',
      'l.user_id',
      'l.operator_id',
      'l.expires_at',
      'u.organization_id',
      'u.role as user_role',
      'g.name as organization_name',
      sql<string>`coalesce(u.email, o.email)`.as('email'),
      sql<string | null>`coalesce(u.full_name, o.full_name)`.as('full_name'),
    ])
    .where('l.token_hash', '=', tokenHash)
    .where('l.expires_at', '>', now.toISOString())
    .where(sql<SqlBool>`coalesce(u.is_active, o.is_active) and g.active is not false`)
    .executeTakeFirst()

/** The creation time of the current link of a person. */
export const linkTimeOf = (db: Db, person: Person) =>
  db
    .selectFrom('account_links')
    .select(['kind', 'created_at'])
    .where(belongsTo(person))
    .executeTakeFirst()

/** Of two requests with the same link, one deletes it. */
export async function spendLink(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('account_links')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export const setPassword = (tx: Tx, person: Person, password_hash: string, now: Date) => {
  const fields = { password_hash, updated_at: now.toISOString() }
  return 'user_id' in person
    ? tx.updateTable('dashboard_users').set(fields).where('id', '=', person.user_id).execute()
    : tx.updateTable('operators').set(fields).where('id', '=', person.operator_id).execute()
}

export const deleteLinksBefore = async (db: Db, before: Date): Promise<void> => {
  await db.deleteFrom('account_links').where('expires_at', '<', before.toISOString()).execute()
}
