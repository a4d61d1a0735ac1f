import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { AddressRule } from '../lib/address-rules.ts'
import { addressRulesOf } from './address-rules.repository.ts'
import { isRight, type MailCredential } from './mail-credentials.ts'

/** A mailbox whose holder may log in now. */
export interface MailAccount {
  id: string
  email: string
  name: string | null
  organizationId: string
  domainId: string
  addressRules: readonly AddressRule[]
}

const activeAccounts = (db: Db) =>
  db
    .selectFrom('email_accounts as m')
    .innerJoin('domains as d', 'd.id', 'm.domain_id')
    .innerJoin('organizations as o', 'o.id', 'm.organization_id')
    .select([
      'm.id',
      'm.email',
      'm.name',
      'm.organization_id as organizationId',
      'm.domain_id as domainId',
      addressRulesOf(sql.ref('m.organization_id'), 'mailbox').as('addressRules'),
    ])
    .where('m.status', '=', 'active')
    .where('d.hosted', '=', true)
    .where('o.active', '=', true)

/** The mailbox with its password hash, which is null while a second factor is on. */
export const findByAddress = (db: Db, email: string) =>
  activeAccounts(db)
    .select(
      sql<string | null>`case when not exists (
        select from totp_enrollments t
        where t.kind = 'mailbox' and t.subject_id = m.id and t.confirmed_at is not null
      ) then m.password_hash end`.as('passwordHash'),
    )
    .where('m.email', '=', email)
    .executeTakeFirst()

/** The mailbox whose app password has this hash and permits the service. */
export const findByAppPassword = (db: Db, email: string, hash: string, scope: string) =>
  activeAccounts(db)
    .innerJoin('app_passwords as p', 'p.email_account_id', 'm.id')
    .select('p.id as appPasswordId')
    .where('m.email', '=', email)
    .where('p.password_hash', '=', hash)
    .where(sql<SqlBool>`${scope} = any(p.scopes)`)
    .executeTakeFirst()

/** The mailbox whose access token has this hash and permits the service. */
export const findByToken = (db: Db, hash: string, scope: string, now: Date) =>
  activeAccounts(db)
    .innerJoin('oauth_items as t', 't.email_account_id', 'm.id')
    .innerJoin('oauth_clients as c', 'c.id', 't.client_id')
    .innerJoin('oauth_items as g', (join) =>
      join.onRef('g.id_hash', '=', 't.grant_hash').on('g.kind', '=', 'Grant'),
    )
    .select('g.id as grantId')
    .where('t.kind', '=', 'AccessToken')
    .where('t.id_hash', '=', hash)
    .where('t.expires_at', '>', now.toISOString())
    .where('c.active', '=', true)
    .where(sql<SqlBool>`${scope} = any(t.scopes)`)
    .executeTakeFirst()

/** The mailbox while a credential that was right still is. */
export const findByCredential = (
  db: Db,
  id: string,
  credential: MailCredential,
  scope: string,
  now: Date,
) =>
  activeAccounts(db)
    .where('m.id', '=', id)
    .where(isRight(credential, scope, now))
    .executeTakeFirst()

interface Use {
  id: string
  service: string
  ip: string
  at: Date
}

const usesOf = (uses: readonly Use[]) => sql`unnest(
  ${uses.map(({ id }) => id)}::text[],
  ${uses.map(({ service }) => service)}::text[],
  ${uses.map(({ ip }) => ip)}::text[],
  ${uses.map(({ at }) => at.toISOString())}::timestamptz[]) as u (id, service, ip, at)`

/** Notes the last use of grants, at most once a minute for each of them. */
export const noteGrants = (db: Db, uses: readonly Use[]) =>
  sql`
    with used as (
      select g.id, u.service, u.ip, u.at from ${usesOf(uses)}
      join oauth_items g on g.id = u.id and g.kind = 'Grant'
      where g.last_used_at is null or g.last_used_at < u.at - interval '1 minute'
      for no key update of g skip locked)
    update oauth_items
    set last_used_at = used.at, last_used_service = used.service, last_used_ip = used.ip
    from used where oauth_items.id = used.id`.execute(db)

/** Notes the last use of app passwords, at most once a minute for each of them. */
export const noteAppPasswords = (db: Db, uses: readonly Use[]) =>
  sql`
    with used as (
      select p.id, u.service, u.ip, u.at from ${usesOf(uses)}
      join app_passwords p on p.id = u.id
      where p.last_used_at is null or p.last_used_at < u.at - interval '1 minute'
      for no key update of p skip locked)
    update app_passwords
    set last_used_at = used.at, last_used_service = used.service, last_used_ip = used.ip
    from used where app_passwords.id = used.id`.execute(db)
