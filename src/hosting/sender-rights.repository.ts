import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

export interface SenderRight {
  address: string
  /** The login is named in the Sender header: it sends for a shared mailbox, not as it. */
  on_behalf: boolean
}

/** The addresses of the list that a login may send as, by the rule that Postfix applies to envelopes. */
export async function senderRights(
  db: Db,
  login: string,
  addresses: readonly string[],
): Promise<SenderRight[]> {
  const { rows } = await sql<SenderRight>`
    select asked.address, exists (
      select from shared_mailboxes s
      join domains d on d.id = s.domain_id and d.hosted
      join shared_mailbox_members g on g.shared_mailbox_id = s.id
      join email_accounts m on m.id = g.email_account_id
      where s.email = asked.address and s.status = 'active'
        and m.email = ${login} and g.permission = 'send_on_behalf'
    ) as on_behalf
    from unnest(${[...addresses]}::text[]) as asked (address)
    where ${login} in (select edge.sender_owners(asked.address))`.execute(db)
  return rows
}
