import type { Db } from '../../database/database.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import * as errors from './encryption.errors.ts'
import { findAccount } from './encryption.repository.ts'
import type { Whose } from './whose.ts'

/** The address of a key, and its mailbox; a correspondent has none. */
export interface Owner {
  email: string
  account_id: string | null
  name: string | null
}

/** A holder has one address; a tenant names one. */
export async function ownerOf(
  db: Db,
  { organizationId, account }: Whose,
  sent: string,
): Promise<Owner> {
  if (account) return { email: account.email, account_id: account.id, name: null }
  const email = toMailAddress(sent)?.address
  if (email === undefined) throw new errors.Refused(`${sent} is not an e-mail address`)
  const found = await findAccount(db, organizationId, email)
  return { email, account_id: found?.id ?? null, name: found?.name ?? null }
}
