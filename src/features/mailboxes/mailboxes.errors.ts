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
// The id is returned only to callers that may read the mailbox.
const data = ({ existing_id }: Taken) => (existing_id === undefined ? undefined : { existing_id })

export const EmailAccountExists = defineError<Taken>({
  status: 409,
  code: MAILBOX_ALREADY_EXISTS,
  message: ({ email }) => `Email account ${email} already exists`,
  data,
})
/** EmailAccountExists with the message of the older routes. */
export const MailboxExists = defineError<Taken>({
  status: 409,
  code: MAILBOX_ALREADY_EXISTS,
  message: ({ email }) => `Mailbox ${email} already exists`,
  data,
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
