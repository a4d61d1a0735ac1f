import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'
import { claiming, heldBy, type Lease, setReleased } from '../../../jobs/lease.ts'

export type ResourceType = 'mailbox' | 'domain'

export interface Due {
  resource_type: ResourceType
  resource_id: string
  attempts: number
  /** The e-mail address or the domain; null when it is not hosted and needs no work. */
  name: string | null
}

/** Joins the mailbox or domain of an entry and its organization. */
const resources = sql`
  left join email_accounts account
    on p.resource_type = 'mailbox' and account.id = p.resource_id
  left join domains domain
    on domain.id = case p.resource_type when 'domain' then p.resource_id else account.domain_id end
  left join organizations organization on organization.id = domain.organization_id`

/** Claims entries that are due. */
export async function claim(db: Db, lease: Lease, limit: number): Promise<Due[]> {
  const { rows } = await sql<Due>`
    with claimed as (${claiming('provisioning', lease, {
      key: ['resource_type', 'resource_id'],
      where: sql`status = 'pending' and due_at <= now()`,
      orderBy: sql`due_at`,
      limit,
      returning: sql`resource_type, resource_id, attempts`,
    })})
    select p.*, case
      when organization.active and domain.hosted and coalesce(account.status = 'active', true)
      then coalesce(account.email, domain.domain) end as name
    from claimed p ${resources}`.execute(db)
  return rows
}

const isHeld = ({ resource_type, resource_id }: Due, lease: Lease) =>
  sql`resource_type = ${resource_type} and resource_id = ${resource_id} and ${heldBy(lease)}`

export const finish = (db: Db, due: Due, lease: Lease) =>
  sql`delete from provisioning where ${isHeld(due, lease)}`.execute(db)

export const postpone = (db: Db, due: Due, lease: Lease, seconds: number) =>
  sql`update provisioning
    set due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
    where ${isHeld(due, lease)}`.execute(db)

/** Retried after a pause, or left to operators without one. */
export const fail = (db: Db, due: Due, lease: Lease, error: string, again: number | undefined) =>
  sql`
    update provisioning set attempts = attempts + 1, error = ${error}, updated_at = now(),
      status = ${again === undefined ? 'failed' : 'pending'},
      due_at = now() + make_interval(secs => ${again ?? 0}),
      ${setReleased}
    where ${isHeld(due, lease)}`.execute(db)

export interface Failure {
  resource_type: ResourceType
  id: string
  name: string
  organization_id: string
  organization_name: string
  status: string
  error: string | null
  attempts: number
  created_at: string
  updated_at: string
}

export interface FailureFilter {
  resource_type?: ResourceType
  organization_id?: string
}

const failed = ({ resource_type, organization_id }: FailureFilter) => sql`
  p.status = 'failed'
  ${resource_type === undefined ? sql`` : sql`and p.resource_type = ${resource_type}`}
  ${organization_id === undefined ? sql`` : sql`and p.organization_id = ${organization_id}`}`

export async function failures(db: Db, filter: FailureFilter, { perPage, offset }: Page) {
  const { rows } = await sql<Failure>`
    select p.resource_type, p.resource_id as id, coalesce(account.email, domain.domain) as name,
      p.organization_id, organization.name as organization_name, p.status, p.error, p.attempts,
      p.created_at, p.updated_at
    from provisioning p ${resources}
    where ${failed(filter)}
    order by p.updated_at desc, p.resource_id desc limit ${perPage} offset ${offset}`.execute(db)
  const counted = await sql<{ total: number }>`
    select count(*) as total from provisioning p where ${failed(filter)}`.execute(db)
  return { items: rows, total: counted.rows[0]?.total ?? 0 }
}

export async function exists(db: Db | Tx, type: ResourceType, id: string): Promise<boolean> {
  const table = type === 'mailbox' ? 'email_accounts' : 'domains'
  const row = await db.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** Returns false when the entry is not failed. Of two concurrent calls only one returns true. */
export async function retry(tx: Tx, type: ResourceType, id: string): Promise<boolean> {
  const { rows } = await sql`
    update provisioning set status = 'pending', due_at = now(), updated_at = now(), attempts = 0
    where resource_type = ${type} and resource_id = ${id} and status = 'failed'
    returning resource_id`.execute(tx)
  if (rows.length > 0) await sql`select pg_notify('mailplane_chores', 'provisioning')`.execute(tx)
  return rows.length > 0
}
