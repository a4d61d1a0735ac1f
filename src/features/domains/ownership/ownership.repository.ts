import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { columns } from '../domains.repository.ts'
import { parentsOf, registeredName } from './ownership.rules.ts'

/**
 * Serializes claims and proofs of a name, its parents and its children: after a proof there must be
 * no other claim on the name, and related names of other tenants need an operator.
 */
export const lockName = (tx: Tx, domain: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`domain ${registeredName(domain)}`}, 0))`.execute(
    tx,
  )

export const findProven = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domain', '=', domain)
    .where('ownership_verified_at', 'is not', null)
    .executeTakeFirst()

export const tokenOf = async (db: Db, organizationId: string): Promise<string> =>
  (
    await db
      .selectFrom('organizations')
      .select('verification_token')
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow()
  ).verification_token

/** Returns whether another organization has proven a parent or a child of the name. */
export async function isRelatedToOther(
  db: Db,
  { domain, organization_id }: { domain: string; organization_id: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('domains')
    .select('id')
    .where('organization_id', '<>', organization_id)
    .where('ownership_verified_at', 'is not', null)
    .where(
      sql<SqlBool>`(domain = any(${parentsOf(domain)}::text[])
        or right(domain, ${domain.length + 1}::int) = ${`.${domain}`})`,
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function isOperatorsDomain(db: Db, domain: string): Promise<boolean> {
  const row = await db
    .selectFrom('operators')
    .select('id')
    .where(sql<SqlBool>`lower(split_part(email, '@', -1)) = ${domain}`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Pending claims on a name, in a fixed order. */
export const claimsOn = (tx: Tx, domain: string) =>
  tx
    .selectFrom('domains')
    .select(columns)
    .where('domain', '=', domain)
    .where('ownership_verified_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()

export type Claim = Awaited<ReturnType<typeof claimsOn>>[number]

/**
 * Pending claims that were not looked up since. Every organization gets its turn: many claims of one
 * tenant do not delay those of another.
 */
export async function dueForLookup(db: Db, since: Date, limit: number) {
  const { rows } = await sql<{ id: string; domain: string; organization_id: string }>`
    select id, domain, organization_id from (
      select id, domain, organization_id, ownership_checked_at,
        row_number() over (
          partition by organization_id order by ownership_checked_at nulls first, id) as turn
      from domains
      where ownership_verified_at is null
        and (ownership_checked_at is null or ownership_checked_at < ${since.toISOString()})
    ) as due
    order by turn, ownership_checked_at nulls first, id
    limit ${limit}`.execute(db)
  return rows
}

export const setChecked = (db: Db, id: string, now: Date) =>
  db
    .updateTable('domains')
    .set({ ownership_checked_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

/** Marks the claims from before `created` as warned and returns those that were not. */
export const warn = (tx: Tx, created: Date, now: Date) =>
  tx
    .updateTable('domains')
    .set({ ownership_warned_at: now.toISOString() })
    .where('ownership_verified_at', 'is', null)
    .where('ownership_warned_at', 'is', null)
    .where('created_at', '<=', created.toISOString())
    .returning(['id', 'organization_id', 'domain', 'created_at'])
    .execute()

/** Claims that began before `created` and were announced to end. */
export const lapsed = (db: Db, created: Date, warned: Date) =>
  db
    .selectFrom('domains')
    .select(['id', 'domain'])
    .where('ownership_verified_at', 'is', null)
    .where('created_at', '<=', created.toISOString())
    .where('ownership_warned_at', '<=', warned.toISOString())
    .orderBy('created_at')
    .execute()
