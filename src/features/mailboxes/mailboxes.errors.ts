import { defineError } from '../../errors.ts'

export const EmailAccountNotFound = defineError({ status: 404, message: 'Email account not found' })

export const DomainUnavailable = defineError<string>({
  status: 400,
  message: (domain) => `Domain ${domain} not found or inactive`,
})

interface Taken {
  email: string
  existing_id?: string
}
const MAILBOX_ALREADY_EXISTS = 'MAILBOX_ALREADY_EXISTS'
// Which one it is, only somebody who may see it learns.
const data = ({ existing_id }: Taken) => (existing_id === undefined ? undefined : { existing_id })

export const EmailAccountExists = defineError<Taken>({
  status: 409,
  code: MAILBOX_ALREADY_EXISTS,
  message: ({ email }) => `Email account ${email} already exists`,
  data,
})
/** The same in the words of the older routes. */
export const MailboxExists = defineError<Taken>({
  status: 409,
  code: MAILBOX_ALREADY_EXISTS,
  message: ({ email }) => `Mailbox ${email} already exists`,
  data,
})

const OWNERS: Record<string, string> = {
  alias: 'an alias',
  shared_mailbox: 'a shared mailbox',
  smtp_credential: 'an SMTP login',
}
export const AddressInUse = defineError<{ email: string; kind: string }>({
  status: 409,
  message: ({ email, kind }) =>
    `Address ${email} is already used by ${OWNERS[kind] ?? 'something else'}`,
})

export const AccountExternalIdTaken = defineError({
  status: 409,
  message: 'Email account with this external_id already exists',
})

export const UserLimitReached = defineError<number>({
  status: 400,
  message: (limit) => `Domain has reached maximum user limit (${limit})`,
})

export const WeakPassword = defineError<string>({
  status: 400,
  code: 'weak_password',
  message: (rule) => rule,
})

export const InvalidReset = defineError<string>({ status: 400, message: (text) => text })

export const MailboxBeingErased = defineError({
  status: 409,
  message: 'The data of this mailbox is being erased; an operator can cancel that first',
})

/** Who placed the hold and why is the operators' business. */
export const MailboxOnHold = defineError({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers this mailbox; an operator has to release it first',
})
