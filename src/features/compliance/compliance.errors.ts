import { defineError } from '../../errors.ts'

export const MailboxNotFound = defineError({ status: 404, message: 'Mailbox not found' })
export const NothingStored = defineError<string>({
  status: 404,
  message: (email) => `No data about ${email} is stored`,
})
export const IsSharedMailbox = defineError<string>({
  status: 409,
  message: (email) =>
    `${email} is a shared mailbox, not a person; delete the shared mailbox instead`,
})
export const ExportNotFound = defineError({ status: 404, message: 'Data export not found' })
export const ExportNotReady = defineError<string>({
  status: 409,
  message: (status) => `Data export is ${status}; ask for its status until it is completed`,
})
export const ExportExpired = defineError({
  status: 410,
  message: 'Data export has expired; request a new one',
})
export const ExportDamaged = defineError({
  status: 410,
  message: 'Data export is damaged; request a new one',
})
export const LegalHoldActive = defineError<{ holds: { id: number; name: string }[] }>({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers this address; release it first',
  data: ({ holds }) => ({ holds }),
})
export const ErasureUnderWay = defineError<string>({
  status: 409,
  message: (day) => `This address is already being erased; its data goes on ${day}`,
})
export const NoErasureToCancel = defineError({
  status: 404,
  message: 'No erasure of this address is waiting',
})
export const ErasureBegun = defineError({
  status: 409,
  message: 'The data is being removed already; this can no longer be undone',
})
export const HoldNotFound = defineError({ status: 404, message: 'Legal hold not found' })
export const HoldReleased = defineError({
  status: 409,
  message: 'Legal hold is already released',
})
export const PolicyNotFound = defineError({
  status: 404,
  message: 'This organization has no retention policy',
})
export const NoPolicyToCancel = defineError({
  status: 409,
  message: 'The retention policy is already in force; set another one, or delete it',
})
export const NothingKept = defineError({
  status: 409,
  message: 'A legal hold keeps no expunged messages of this mailbox',
})
