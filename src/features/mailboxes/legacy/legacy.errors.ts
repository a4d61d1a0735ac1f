import { defineError } from '../../../errors.ts'

export const MailboxNotFound = defineError({ status: 404, message: 'Mailbox not found' })
export const InvalidMailbox = defineError<string>({ status: 400, message: (text) => text })
