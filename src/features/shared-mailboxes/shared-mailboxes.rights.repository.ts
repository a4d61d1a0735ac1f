import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export interface RightRow {
  shared_mailbox_id: string
  shared_email: string
  member_email: string
  permission: string
}

/** Until the transaction ends nobody else settles this mailbox. */
export const lock = (tx: Tx, id: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended('shared rights ' || ${id}, 0))`.execute(tx)

const WANTED = sql`
  select s.id as shared_mailbox_id, s.email as shared_email, a.email as member_email, m.permission
  from shared_mailbox_members m
  join shared_mailboxes s on s.id = m.shared_mailbox_id and s.status = 'active'
  join email_accounts a on a.id = m.email_account_id`
const GIVEN = sql`
  select shared_mailbox_id, shared_email, member_email, permission from edge.shared_rights`

export const wanted = async (tx: Tx, id: string) =>
  (await sql<RightRow>`${WANTED} where s.id = ${id}`.execute(tx)).rows

export const given = async (tx: Tx, id: string) =>
  (await sql<RightRow>`${GIVEN} where shared_mailbox_id = ${id}`.execute(tx)).rows

export const note = (tx: Tx, row: RightRow) =>
  sql`
    insert into edge.shared_rights (shared_mailbox_id, shared_email, member_email, permission)
    values (${row.shared_mailbox_id}, ${row.shared_email}, ${row.member_email}, ${row.permission})
    on conflict (shared_mailbox_id, member_email) do update set permission = excluded.permission
  `.execute(tx)

export async function forget(tx: Tx, row: RightRow): Promise<void> {
  await sql`
    delete from edge.shared_rights
    where shared_mailbox_id = ${row.shared_mailbox_id} and member_email = ${row.member_email}
  `.execute(tx)
  // Dovecot does this itself, as long as it knows the mailbox.
  await sql`
    delete from edge.user_shares
    where from_user = ${row.shared_email} and to_user = ${row.member_email}
  `.execute(tx)
}

/** Mailboxes of which what is wanted and what was given differ. */
export const unsettled = async (db: Db): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select distinct shared_mailbox_id as id
    from ((${WANTED} except ${GIVEN}) union all (${GIVEN} except ${WANTED})) as differing
  `.execute(db)
  return rows.map(({ id }) => id)
}
