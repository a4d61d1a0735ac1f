import type { Db } from './database.ts'

const WORDS = {
  mailbox: 'a mailbox',
  alias: 'an alias',
  shared_mailbox: 'a shared mailbox',
  smtp_credential: 'an SMTP login',
}

/** Who has an address in the register, in the words a refused caller reads. */
export async function holderOf(
  db: Db,
  address: string,
): Promise<{ id: string | undefined; words: string }> {
  const found = await db
    .selectFrom('addresses')
    .select(['kind', 'owner_id'])
    .where('address', '=', address)
    .executeTakeFirst()
  // It may be gone again by now.
  return { id: found?.owner_id, words: found ? WORDS[found.kind] : 'something else' }
}
