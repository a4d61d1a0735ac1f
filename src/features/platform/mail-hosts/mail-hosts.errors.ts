import { defineError } from '../../../errors.ts'

export const MailHostNotFound = defineError({ status: 404, message: 'Mail host not found' })
export const MailHostNameTaken = defineError({
  status: 409,
  message: 'A mail host with that name already exists',
})
export const MailHostInUse = defineError({
  status: 409,
  code: 'MAIL_HOST_IN_USE',
  message: 'The mail host has mailboxes or open moves; drain it first',
})
export const LastProxy = defineError({
  status: 409,
  message: 'The other mail hosts need a proxy; delete the backends first',
})
export const NoOtherBackend = defineError({
  status: 409,
  code: 'NO_OTHER_BACKEND',
  message: 'There is no other active backend to move the mailboxes to',
})
export const NotABackend = defineError({
  status: 409,
  message: 'The mail host is not an active backend',
})
export const MailHostSilent = defineError({
  status: 503,
  message: 'Dovecot of the mail host does not answer at its doveadm_url',
})
export const MailboxNotPlaced = defineError({
  status: 404,
  message: 'There is no such mailbox on a mail host',
})
export const AlreadyThere = defineError({
  status: 409,
  message: 'The mailbox is on that mail host, or is being moved',
})
export const MoveNotFound = defineError({ status: 404, message: 'Move not found' })
export const MoveNotCancellable = defineError({
  status: 409,
  message: 'The move has ended, or the mailbox is on the new host already',
})
