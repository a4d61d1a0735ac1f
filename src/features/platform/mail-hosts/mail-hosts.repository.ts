import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

export type HostState = 'active' | 'draining' | 'away'

export interface HostFields {
  address: string
  imap_port: number
  pop3_port: number
  sieve_port: number
  lmtp_port: number
  sync_port: number
  doveadm_url: string | null
  state: HostState
}

export interface MailHostRow extends HostFields {
  id: string
  name: string
  roles: ('proxy' | 'backend' | 'mx' | 'submission' | 'outbound')[]
  mailboxes: number
  open_moves: number
  old_copies: number
  created_at: string
  updated_at: string
}

const OPEN = sql`state in ('waiting', 'copying', 'locked', 'switched')`

const rows = (condition = sql`true`, page?: Page) => sql<MailHostRow>`
  select h.id, h.name, h.roles, h.state, h.address, h.imap_port, h.pop3_port, h.sieve_port,
    h.lmtp_port, h.sync_port, h.doveadm_url, h.created_at, h.updated_at,
    (select count(*) from mailbox_places p where p.host_id = h.id) as mailboxes,
    (select count(*) from mailbox_moves m
      where h.id in (m.source_id, m.target_id) and ${OPEN}) as open_moves,
    (select count(*) from mailbox_leftovers l where l.host_id = h.id) as old_copies
  from mail_hosts h where ${condition}
  order by h.name limit ${page?.perPage ?? null} offset ${page?.offset ?? 0}`

export async function list(db: Db, page: Page) {
  const items = (await rows(undefined, page).execute(db)).rows
  const { rows: counted } = await sql<{ total: number }>`
    select count(*) as total from mail_hosts`.execute(db)
  return { items, total: counted[0]?.total ?? 0 }
}

export async function find(db: Db, id: string): Promise<MailHostRow | undefined> {
  return (await rows(sql`h.id = ${id}`).execute(db)).rows[0]
}

/** Locks the host against a change of its state and against its deletion. */
export async function lock(tx: Tx, id: string) {
  const { rows: found } = await sql<Pick<MailHostRow, 'name' | 'roles' | 'state'>>`
    select name, roles, state from mail_hosts where id = ${id} for update`.execute(tx)
  return found[0]
}

export const insert = (tx: Tx, host: HostFields & Pick<MailHostRow, 'id' | 'name' | 'roles'>) =>
  tx.insertInto('mail_hosts').values(host).execute()

export const update = (tx: Tx, id: string, fields: Partial<HostFields>) =>
  tx
    .updateTable('mail_hosts')
    .set({ ...fields, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('mail_hosts').where('id', '=', id).execute()

export async function countOthers(tx: Tx, id: string, role: string): Promise<number> {
  const { rows: counted } = await sql<{ others: number }>`
    select count(*) as others from mail_hosts
    where id <> ${id} and ${role} = any (roles)`.execute(tx)
  return counted[0]?.others ?? 0
}

/**
 * Puts the mailboxes that have no place on the first backend: they are there already. Waits for
 * mailboxes that are being created, whose triggers do not see the host yet.
 */
export async function placeAll(tx: Tx, host: string): Promise<void> {
  await sql`lock table email_accounts, shared_mailboxes in share mode`.execute(tx)
  await sql`
    insert into mailbox_places (mailbox_id, organization_id, host_id)
    select id, organization_id, ${host} from email_accounts
    union select id, organization_id, ${host} from shared_mailboxes
    union select id, organization_id, ${host} from deleted_mailboxes
    on conflict do nothing`.execute(tx)
}

/** Starts moves of all mailboxes of a host. Each organization goes to one other active backend. */
export async function moveAll(tx: Tx, host: string, by: string): Promise<number> {
  const { rows: started } = await sql<{ moves: number }>`
    with targets as (
      select h.id, row_number() over (order by count(p.mailbox_id), h.name) as place,
        count(*) over () as number
      from mail_hosts h left join mailbox_places p on p.host_id = h.id
      where 'backend' = any (h.roles) and h.state = 'active' and h.id <> ${host}
      group by h.id
    ), tenants as (
      select organization_id, row_number() over (order by organization_id) as place,
        array_agg(mailbox_id) as mailboxes
      from mailbox_places where host_id = ${host} group by organization_id
    )
    select count(moved.id) as moves
    from tenants o
    join targets t on t.place = 1 + (o.place - 1) % t.number
    cross join lateral move_mailboxes(o.mailboxes, t.id, ${by}) as moved`.execute(tx)
  return started[0]?.moves ?? 0
}

export async function hasOtherBackend(tx: Tx, host: string): Promise<boolean> {
  const { rows: found } = await sql`
    select from mail_hosts
    where 'backend' = any (roles) and state = 'active' and id <> ${host} limit 1`.execute(tx)
  return found.length > 0
}
