import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { ulid } from '../../../lib/ulid.ts'
import { changeAccount } from '../index/change-log.ts'

export type IdentityRow = Selectable<Tables['jmap_identities']>

export const identityRows = (db: Db, accountId: string): Promise<IdentityRow[]> =>
  db
    .selectFrom('jmap_identities')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('may_delete')
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Each address has an identity; those of addresses that the holder has lost are removed. */
export async function alignIdentities(
  db: Db,
  accountId: string,
  holder: { name: string | null },
  addresses: readonly string[],
): Promise<void> {
  const rows = await identityRows(db, accountId)
  const missing = addresses.filter(
    (email) => !rows.some((row) => !row.may_delete && row.email === email),
  )
  const lost = rows.filter(({ email }) => !addresses.includes(email))
  if (missing.length === 0 && lost.length === 0) return
  await changeAccount(db, accountId, async (tx, record) => {
    for (const { id } of lost) {
      if (await deleteIdentity(tx, accountId, id)) {
        record({ kind: 'Identity', id, action: 'destroyed' })
      }
    }
    for (const email of missing) {
      const id = await insertDefault(tx, accountId, email, holder.name ?? '')
      if (id) record({ kind: 'Identity', id, action: 'created' })
    }
  })
}

async function insertDefault(tx: Tx, accountId: string, email: string, name: string) {
  const id = `I${ulid()}`
  const { rows } = await sql<{ id: string }>`
    insert into jmap_identities (id, account_id, email, name, may_delete)
    values (${id}, ${accountId}, ${email}, ${name}, false)
    on conflict (account_id, email) where not may_delete do nothing
    returning id`.execute(tx)
  return rows[0]?.id
}

export async function deleteIdentity(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('jmap_identities')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
