import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { contains } from '../../../database/search.ts'
import type { PastDays } from '../../../hosting/past-days.ts'
import type { Page } from '../../../http/paging.ts'
import { claimForIdle, heldBy, type Lease, released } from '../../../jobs/lease.ts'
import type { Person } from '../personal-data/personal-table.ts'
import { ownersOf } from '../personal-data/records.repository.ts'

const columns = [
  'id',
  'organization_id',
  'name',
  'description',
  'custodians',
  'start_date',
  'end_date',
  'active',
  'created_by',
  'enforced_at',
  'created_at',
] as const

export interface HoldFilter {
  organization_id?: string
  active?: boolean
  q?: string
}

export async function list(db: Db, { organization_id, active, q }: HoldFilter, page: Page) {
  let query = db.selectFrom('legal_holds')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (active !== undefined) query = query.where('active', '=', active)
  if (q) query = query.where(contains(['name', 'description'], q))
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

const inForce = (db: Db, now: Date) =>
  db
    .selectFrom('legal_holds')
    .select(['id', 'name', 'organization_id', 'end_date'])
    .where('active', '=', true)
    .where(sql<SqlBool>`(end_date is null or end_date > ${now.toISOString()}::timestamptz)`)

/**
 * The holds of an organization that cover an address now. The SQL function is_held applies these
 * conditions too.
 */
const covering = (db: Db, organizationId: string, email: string, now: Date) =>
  inForce(db, now)
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`(custodians = '{}' or ${email} = any (custodians))`)
    .orderBy('id')
    .execute()

/**
 * The holds that an erasure of these persons, who have one address, has to wait for: of the address, and of
 * whole organizations that have rows about them.
 */
export async function coveringPersons(
  db: Db,
  past: PastDays,
  persons: readonly Person[],
  now: Date,
) {
  const held = new Map<string, ReturnType<typeof covering>>()
  for (const person of persons) {
    for (const owner of await ownersOf(db, past, person)) {
      if (!held.has(owner)) held.set(owner, covering(db, owner, person.email, now))
    }
  }
  return (await Promise.all(held.values())).flat()
}

/**
 * The holds on an address: those that name it, and those on whole organizations that own its domain or have
 * a mailbox of it, also a prepared or a deleted one.
 */
export async function coveringAddress(db: Db, email: string, now: Date) {
  const { rows } = await sql<{ id: string }>`
    select organization_id as id from domains
    where domain = split_part(${email}, '@', 2) and ownership_verified_at is not null
    union
    select organization_id from email_accounts where email = ${email}
    union
    select organization_id from shared_mailboxes where email = ${email} and status = 'active'
    union
    select organization_id from deleted_mailboxes where email = ${email}`.execute(db)
  const owners = rows.map(({ id }) => id)
  return inForce(db, now)
    .where(sql<SqlBool>`(${email} = any (custodians)
      or custodians = '{}' and organization_id = any (${owners}::text[]))`)
    .orderBy('id')
    .execute()
}

/**
 * The addresses that are not of the organization: outside of its proven domains, and no mailbox of it that
 * was deleted with its domain.
 */
export async function notOf(tx: Tx, organizationId: string, emails: readonly string[]) {
  const { rows } = await sql<{ email: string }>`
    select email from unnest(${emails}::text[]) as email
    where not exists (
      select from domains where organization_id = ${organizationId}
        and domain = split_part(email, '@', 2) and ownership_verified_at is not null)
      and not exists (
        select from deleted_mailboxes
        where organization_id = ${organizationId} and deleted_mailboxes.email = email.email)
    order by email`.execute(tx)
  return rows.map(({ email }) => email)
}

export interface NewHold {
  organization_id: string
  name: string
  description: string | null
  custodians: string[]
  reason: string
  start_date: string
  end_date: string | null
  created_by: string
  created_at: string
}

export const insert = (tx: Tx, hold: NewHold) =>
  tx.insertInto('legal_holds').values(hold).returning(columns).executeTakeFirstOrThrow()

export const lock = (tx: Tx, id: number) =>
  tx.selectFrom('legal_holds').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()

export const release = (tx: Tx, id: number, by: string, reason: string, at: Date) =>
  tx
    .updateTable('legal_holds')
    .set({
      active: false,
      released_by: by,
      released_at: at.toISOString(),
      release_reason: reason,
      // The mail servers have yet to follow.
      enforced_at: null,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/** A hold in force whose end date has passed. */
export const lockEnded = (tx: Tx, now: Date) =>
  tx
    .selectFrom('legal_holds')
    .select('id')
    .where('active', '=', true)
    .where('end_date', '<=', now.toISOString())
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export interface ChangedHold {
  id: number
  organization_id: string
  custodians: string[]
  active: boolean
}

/** Claims a hold that was placed or released and that the mail servers do not follow yet. */
export const claimChanged = (db: Db, lease: Lease): Promise<ChangedHold | undefined> =>
  claimForIdle<ChangedHold>(db, 'legal_holds', lease, {
    key: ['id'],
    where: sql`enforced_at is null`,
    orderBy: sql`id`,
    returning: sql`id, organization_id, custodians, active`,
  })

/** A hold that was released in the meantime is claimed again. */
export const setEnforced = (db: Db, { id, active }: ChangedHold, lease: Lease, now: Date) =>
  db
    .updateTable('legal_holds')
    .set({
      enforced_at: sql`case when active = ${active} then ${now.toISOString()}::timestamptz end`,
      ...released,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

/** The mailboxes that this hold covers, in the order of their addresses. */
export async function mailboxesOf(db: Db, hold: ChangedHold, after: string, limit: number) {
  const { rows } = await sql<{ email: string }>`
    select email from email_accounts
    where organization_id = ${hold.organization_id} and email > ${after}
      and (${hold.custodians}::text[] = '{}' or email = any(${hold.custodians}::text[]))
    order by email limit ${limit}`.execute(db)
  return rows.map(({ email }) => email)
}

export const domainsOf = async (db: Db, organizationId: string) =>
  (
    await db
      .selectFrom('domains')
      .select('domain')
      .where('organization_id', '=', organizationId)
      .execute()
  ).map(({ domain }) => domain)
