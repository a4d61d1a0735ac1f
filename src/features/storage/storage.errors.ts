import { defineError } from '../../errors.ts'

export const MailboxNotFound = defineError({ status: 404, message: 'Mailbox not found' })
/** The message does not tell whether the name exists in another organization. */
export const StorageOwnerNotFound = defineError({ status: 404, message: 'Storage owner not found' })
export const UsageNotFound = defineError({ status: 404, message: 'Usage data not found' })
export const InvalidCleanup = defineError<string>({ status: 400, message: (text) => text })
export const NoQuotaSent = defineError<string>({
  status: 400,
  message: (fields) => `No quota data provided: send at least one of ${fields}`,
})
