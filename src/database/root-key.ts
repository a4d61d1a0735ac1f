import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import type { Vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'
import type { Db } from './database.ts'

const PURPOSE = 'root key check'
const TEXT = 'the root key is right'

type KeySource = Pick<Config, 'DATA_DIR' | 'SVC_SECRET_KEY'>

/** Fails at the start if the root key is wrong, instead of when the first secret is read. */
export async function verifyRootKey(db: Db, vault: Vault, config: KeySource): Promise<void> {
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
    throw new StartupError(wrongKey(config))
  }
}

const wrongKey = ({ DATA_DIR, SVC_SECRET_KEY }: KeySource): string =>
  SVC_SECRET_KEY === undefined
    ? `the key in ${join(DATA_DIR, 'secret-key')} is not the key this database was encrypted with; set SVC_SECRET_KEY to that key, or restore the file`
    : 'SVC_SECRET_KEY is not the key this database was encrypted with'
