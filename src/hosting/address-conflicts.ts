import { type AddressHolder, holderOf } from '../database/addresses.ts'
import type { Db } from '../database/database.ts'
import type { Scope } from '../database/scope.ts'
import { defineError } from '../errors.ts'

interface Conflict extends AddressHolder {
  email: string
}

const message = ({ email, words }: Conflict) => `Address ${email} is already used by ${words}`

/** The address belongs to a mailbox or a shared mailbox. */
export const MailboxAddressTaken = defineError<Conflict>({
  status: 409,
  code: 'MAILBOX_ALREADY_EXISTS',
  message,
  data: ({ id }) => (id === undefined ? undefined : { existing_id: id }),
})

/** The address belongs to an alias or an SMTP login. */
export const AddressInUse = defineError<Conflict>({
  status: 409,
  code: 'ADDRESS_IN_USE',
  message,
})

export const ADDRESS_CONFLICTS = [MailboxAddressTaken, AddressInUse]

/** The error for an address that the register of addresses has already. */
export const addressTaken = (email: string, holder: AddressHolder) =>
  holder.kind === 'mailbox' || holder.kind === 'shared_mailbox'
    ? new MailboxAddressTaken({ email, ...holder })
    : new AddressInUse({ email, ...holder })

export const addressConflict = async (db: Db, scope: Scope, email: string) =>
  addressTaken(email, await holderOf(db, scope, email))
