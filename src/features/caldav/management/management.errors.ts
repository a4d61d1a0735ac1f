import { defineError } from '../../../errors.ts'

export const MailboxNotFound = defineError<string>({
  status: 404,
  message: (email) => `Account ${email} not found`,
})

export const CollectionsFull = defineError({
  status: 409,
  code: 'CALENDARS_FULL',
  message:
    'This mailbox has as many calendars, address books or contacts as it may; delete some of them first',
})

export const UnusableContact = defineError<string>({
  status: 422,
  code: 'UNUSABLE_CONTACT',
  message: (reason) => `The contact cannot be stored: ${reason}`,
})

export const ContactExists = defineError({
  status: 409,
  code: 'CONTACT_EXISTS',
  message: 'The address book has a contact with this UID',
})
