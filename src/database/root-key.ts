import type { Vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'
import type { Db } from './database.ts'

const PURPOSE = 'root key check'
const TEXT = 'the root key is right'

/** A wrong root key is found at the start, not when the first secret cannot be read. */
export async function verifyRootKey(db: Db, vault: Vault): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: PURPOSE, value: vault.seal(PURPOSE, TEXT) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', PURPOSE)
    .executeTakeFirstOrThrow()
  try {
    vault.open(PURPOSE, row.value)
  } catch {
    throw new StartupError('SVC_SECRET_KEY is not the key this database was encrypted with')
  }
}
