import type { Db, Tx } from '../../database/database.ts'
import { domainOf } from '../../lib/mail-address.ts'

const columns = ['id', 'organization_id', 'domain_id', 'email', 'status'] as const

export const findMailbox = (db: Db, email: string) =>
  db.selectFrom('email_accounts').select(columns).where('email', '=', email).executeTakeFirst()

/** Whose an address is, also when no mailbox has it. */
export const findOrganization = async (db: Db, email: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('domains')
      .select('organization_id')
      .where('domain', '=', domainOf(email))
      .executeTakeFirst()
  )?.organization_id

/** With the domain's row, which counts it and is locked first. */
export async function lockMailbox(tx: Tx, id: string, domainId: string) {
  await tx.selectFrom('domains').select('id').where('id', '=', domainId).forUpdate().execute()
  return tx
    .selectFrom('email_accounts')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Held until the transaction ends. Placing a hold and whatever a hold forbids meet here: one of the
 * two comes first, and the other sees it.
 */
export const lockOrganization = (tx: Tx, id: string) =>
  tx
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
