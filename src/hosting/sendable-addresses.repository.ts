import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { senderRights } from './sender-rights.repository.ts'

interface Holder {
  id: string
  email: string
  organization_id: string
}

/** The addresses that a mailbox may send as: its own, aliases, shared mailboxes. */
export async function sendableAddresses(db: Db, holder: Holder): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select source as address from aliases
    where organization_id = ${holder.organization_id} and active
      and ${holder.email} = any(destinations) and source not like '@%'
    union
    select box.email from shared_mailboxes box
    join shared_mailbox_members member on member.shared_mailbox_id = box.id
    where member.email_account_id = ${holder.id} and box.status = 'active'`.execute(db)
  const others = rows.map(({ address }) => address).sort()
  const rights = await senderRights(db, holder.email, [holder.email, ...others])
  const allowed = new Set(rights.map(({ address }) => address))
  return [holder.email, ...others].filter((address) => allowed.has(address))
}

/** The address of a mailbox or shared mailbox and the aliases that lead to it. */
export async function ownAddresses(
  db: Db,
  { email, organization_id }: Pick<Holder, 'email' | 'organization_id'>,
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select source as address from aliases
    where organization_id = ${organization_id} and active
      and ${email} = any(destinations) and source not like '@%'
    order by source`.execute(db)
  return [email, ...rows.map(({ address }) => address)]
}
