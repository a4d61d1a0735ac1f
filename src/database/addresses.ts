import { type SqlBool, sql } from 'kysely'
import type { Db } from './database.ts'
import { inScope, type Scope } from './scope.ts'

const WORDS = {
  mailbox: 'a mailbox',
  alias: 'an alias',
  shared_mailbox: 'a shared mailbox',
  smtp_credential: 'an SMTP login',
}

/** An address of a proven domain, or of a pending claim that the caller may see. */
export const inSight = (scope: Scope) =>
  scope === 'platform'
    ? sql<SqlBool>`claim_id = ''`
    : sql<SqlBool>`(claim_id = '' or exists (
        select from domains where domains.id = claim_id and ${inScope('domains', scope)}))`

export interface AddressHolder {
  kind: keyof typeof WORDS | undefined
  id: string | undefined
  /** The kind, for error messages. */
  words: string
}

export const holderAs = (kind: keyof typeof WORDS, id: string): AddressHolder => ({
  kind,
  id,
  words: WORDS[kind],
})

/** The owner of an e-mail address in the register. */
export async function holderOf(db: Db, scope: Scope, address: string): Promise<AddressHolder> {
  const entry = await db
    .selectFrom('addresses')
    .select(['kind', 'owner_id'])
    .where('address', '=', address)
    .where(inSight(scope))
    .executeTakeFirst()
  // The owner may have been deleted since the conflict.
  return entry
    ? holderAs(entry.kind, entry.owner_id)
    : { kind: undefined, id: undefined, words: 'something else' }
}
