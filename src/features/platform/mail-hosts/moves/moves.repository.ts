import { sql } from 'kysely'
import type { Db, Tx } from '../../../../database/database.ts'
import type { Page } from '../../../../http/paging.ts'
import { claimRows, heldBy, isFree, type Lease, setReleased } from '../../../../jobs/lease.ts'
import type { MOVE_STATES } from './moves.schemas.ts'

export type MoveState = (typeof MOVE_STATES)[number]

export interface MoveFilter {
  state?: MoveState
  host_id?: string
}

export interface MoveRow {
  id: string
  mailbox_id: string
  organization_id: string
  email: string | null
  source: string
  target: string
  state: MoveState
  messages: number | null
  attempts: number
  error_message: string | null
  due_at: string
  created_at: string
  finished_at: string | null
}

const matching = ({ state, host_id }: MoveFilter) => sql`
  ${state ? sql`m.state = ${state}` : sql`true`}
  and ${host_id ? sql`${host_id} in (m.source_id, m.target_id)` : sql`true`}`

const rows = (condition = sql`true`, page?: Page) => sql<MoveRow>`
  select m.id, m.mailbox_id, m.organization_id, login_of_mailbox(m.mailbox_id) as email,
    s.name as source, t.name as target, m.state, m.messages, m.attempts, m.error_message, m.due_at,
    m.created_at, m.finished_at
  from mailbox_moves m
  join mail_hosts s on s.id = m.source_id
  join mail_hosts t on t.id = m.target_id
  where ${condition}
  order by m.created_at desc, m.id limit ${page?.perPage ?? null} offset ${page?.offset ?? 0}`

export async function list(db: Db, filter: MoveFilter, page: Page) {
  const items = (await rows(matching(filter), page).execute(db)).rows
  const { rows: counted } = await sql<{ total: number }>`
    select count(*) as total from mailbox_moves m where ${matching(filter)}`.execute(db)
  return { items, total: counted[0]?.total ?? 0 }
}

export const find = async (db: Db, id: string) =>
  (await rows(sql`m.id = ${id}`).execute(db)).rows[0]

/** The mailbox that has this address and a host. */
export async function mailboxOf(tx: Tx, email: string): Promise<string | undefined> {
  const { rows: found } = await sql<{ id: string }>`
    select split_part(folder, '/', 2) as id from edge.place(${email})
    where host_id is not null and username = lower(${email})`.execute(tx)
  return found[0]?.id
}

/** Starts moves of a mailbox and of those that must be on one host with it; returns their ids. */
export async function start(tx: Tx, mailbox: string, host: string, by: string) {
  const { rows: started } = await sql<{ id: string }>`
    select id from move_mailboxes(
      array(select mailbox_id from mailboxes_together(${mailbox})), ${host}, ${by})`.execute(tx)
  return started.map(({ id }) => id)
}

/** Unlocks the mailbox; false when it is on the new host already. */
export async function cancel(tx: Tx, id: string): Promise<boolean> {
  const ended = await sql<Ended>`
    update mailbox_moves set state = 'cancelled', finished_at = now(), ${setReleased}
    where id = ${id} and state in ('waiting', 'copying', 'locked')
    returning mailbox_id, target_id`.execute(tx)
  for (const move of ended.rows) await giveUp(tx, move)
  return ended.rows.length > 0
}

interface Ended {
  mailbox_id: string
  target_id: string
}

/** The mailbox stays where it is. The copy on the other host is removed soon. */
async function giveUp(tx: Tx, { mailbox_id, target_id }: Ended): Promise<void> {
  await sql`update mailbox_places set locked = false where mailbox_id = ${mailbox_id}`.execute(tx)
  await leaveBehind(tx, mailbox_id, target_id, 0)
}

const leaveBehind = (tx: Tx, mailbox: string, host: string, hours: number) =>
  sql`
  insert into mailbox_leftovers (mailbox_id, host_id, remove_after)
  values (${mailbox}, ${host}, now() + make_interval(hours => ${hours}))
  on conflict (mailbox_id, host_id) do update set remove_after = excluded.remove_after`.execute(tx)

export interface Claimed extends Ended {
  id: string
  source_id: string
  state: MoveState
  attempts: number
  /** Null when the mail is gone. */
  login: string | null
  is_shared: boolean
}

export async function claim(db: Db, lease: Lease): Promise<Claimed | undefined> {
  const [move] = await claimRows<Claimed>(db, 'mailbox_moves', lease, {
    key: ['id'],
    where: sql`state in ('waiting', 'copying', 'locked', 'switched') and due_at <= now()`,
    // These first, because their holders wait.
    orderBy: sql`state not in ('locked', 'switched'), due_at, id`,
    returning: sql`id, mailbox_id, source_id, target_id, state, attempts,
      login_of_mailbox(mailbox_id) as login,
      exists (select from shared_mailboxes s where s.id = mailbox_id) as is_shared`,
  })
  return move
}

/** False when the move was cancelled or belongs to another process. */
async function advance(tx: Db, { id }: Claimed, lease: Lease, from: MoveState, to: MoveState) {
  const { numAffectedRows } = await sql`
    update mailbox_moves set state = ${to}
    where id = ${id} and state = ${from} and ${heldBy(lease)}`.execute(tx)
  return numAffectedRows === 1n
}

export const beginCopy = (db: Db, move: Claimed, lease: Lease) =>
  advance(db, move, lease, 'waiting', 'copying')

export const lockMailbox = (db: Db, move: Claimed, lease: Lease) =>
  db.transaction().execute(async (tx) => {
    if (!(await advance(tx, move, lease, 'copying', 'locked'))) return false
    await sql`
      update mailbox_places set locked = true where mailbox_id = ${move.mailbox_id}`.execute(tx)
    return true
  })

/** The mailbox belongs to the new host from here on; the old copy is kept for some hours. */
export async function switchHost(
  tx: Tx,
  move: Claimed,
  lease: Lease,
  { messages, keepHours }: { messages: number; keepHours: number },
): Promise<boolean> {
  if (!(await advance(tx, move, lease, 'locked', 'switched'))) return false
  const { mailbox_id, source_id, target_id } = move
  await sql`update mailbox_moves set messages = ${messages} where id = ${move.id}`.execute(tx)
  await sql`
    update mailbox_places set host_id = ${target_id}, locked = false
    where mailbox_id = ${mailbox_id}`.execute(tx)
  await sql`
    delete from mailbox_leftovers
    where mailbox_id = ${mailbox_id} and host_id = ${target_id}`.execute(tx)
  await leaveBehind(tx, mailbox_id, source_id, keepHours)
  if (move.is_shared && move.login !== null) {
    await sql`select mark_shared_rights(array[${move.login}])`.execute(tx)
  }
  return true
}

/** Ends a move whose mailbox is on the new host, or whose mail is gone. */
export async function finish(db: Db, move: Claimed, lease: Lease): Promise<void> {
  await sql`
    update mailbox_moves set state = case state when 'switched' then 'done' else 'cancelled' end,
      finished_at = now(), error_message = null, ${setReleased}
    where id = ${move.id} and ${heldBy(lease)}`.execute(db)
}

/** Unlocks the mailbox, and begins again after a pause. A mailbox on the new host stays there. */
export const postpone = (
  db: Db,
  move: Claimed,
  lease: Lease,
  { error, seconds, isAttempt }: { error: string; seconds: number; isAttempt: boolean },
) =>
  db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`
      update mailbox_moves set error_message = ${error},
        state = case state when 'switched' then state else 'waiting' end,
        attempts = attempts + ${isAttempt ? 1 : 0},
        due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
      where id = ${move.id} and ${heldBy(lease)}`.execute(tx)
    if (numAffectedRows !== 1n) return
    await sql`
      update mailbox_places set locked = false where mailbox_id = ${move.mailbox_id}`.execute(tx)
  })

/** Lets the other moves between two hosts wait, so that they do not all try in vain. */
export const postponeOthers = (db: Db, { source_id, target_id }: Claimed, seconds: number) =>
  sql`
    update mailbox_moves set due_at = now() + make_interval(secs => ${seconds})
    where source_id = ${source_id} and target_id = ${target_id} and state = 'waiting'
      and due_at <= now() and ${isFree}`.execute(db)

/** False when the move was cancelled meanwhile. */
export async function fail(tx: Tx, move: Claimed, lease: Lease, error: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update mailbox_moves set state = 'failed', error_message = ${error},
      attempts = attempts + 1, finished_at = now(), ${setReleased}
    where id = ${move.id} and state <> 'switched' and ${heldBy(lease)}`.execute(tx)
  if (numAffectedRows !== 1n) return false
  await giveUp(tx, move)
  return true
}

/**
 * Does work on the copy of a host that does not own the mailbox. The mailbox cannot be switched to that host
 * meanwhile, by any process.
 */
export const onForeignCopy = (
  db: Db,
  { mailbox_id, host_id }: { mailbox_id: string; host_id: string },
  work: () => Promise<void>,
) =>
  db.transaction().execute(async (tx) => {
    const { rows: found } = await sql<{ host_id: string }>`
      select host_id from mailbox_places where mailbox_id = ${mailbox_id} for update`.execute(tx)
    if (found[0]?.host_id === host_id) throw new Error('the mailbox is on this mail host')
    await work()
  })

export interface Leftover {
  mailbox_id: string
  host_id: string
  attempts: number
  login: string | null
}

/** Claims a copy that is due for removal. Its mailbox is on another host and is not on the way back. */
export async function claimLeftover(db: Db, lease: Lease): Promise<Leftover | undefined> {
  const [found] = await claimRows<Leftover>(db, 'mailbox_leftovers', lease, {
    key: ['mailbox_id', 'host_id'],
    where: sql`remove_after <= now() and not exists (
        select from mailbox_places p
        where p.mailbox_id = mailbox_leftovers.mailbox_id
          and p.host_id = mailbox_leftovers.host_id)
      and not exists (
        select from mailbox_moves m
        where m.mailbox_id = mailbox_leftovers.mailbox_id
          and m.state in ('waiting', 'copying', 'locked', 'switched'))`,
    orderBy: sql`remove_after`,
    returning: sql`mailbox_id, host_id, attempts, login_of_mailbox(mailbox_id) as login`,
  })
  return found
}

const isLeftover = ({ mailbox_id, host_id }: Leftover, lease: Lease) =>
  sql`mailbox_id = ${mailbox_id} and host_id = ${host_id} and ${heldBy(lease)}`

export const forgetLeftover = (db: Db, leftover: Leftover, lease: Lease) =>
  sql`delete from mailbox_leftovers where ${isLeftover(leftover, lease)}`.execute(db)

export const postponeLeftover = (db: Db, leftover: Leftover, lease: Lease, error: string) =>
  sql`
    update mailbox_leftovers set attempts = attempts + 1, error_message = ${error},
      remove_after = now() + make_interval(mins => least(60, 2 ^ least(attempts, 6)::int)::int),
      ${setReleased}
    where ${isLeftover(leftover, lease)}`.execute(db)
