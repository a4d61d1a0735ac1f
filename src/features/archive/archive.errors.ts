import { defineError } from '../../errors.ts'

export const ArchivedMessageNotFound = defineError({
  status: 404,
  message: 'Archived message not found',
})

export const ArchivedMessageHeld = defineError({
  status: 409,
  code: 'LEGAL_HOLD',
  message: 'A legal hold keeps this message',
})

export const ArchiveCorrupt = defineError({
  status: 500,
  code: 'ARCHIVE_CORRUPT',
  message: 'The archived message does not match its hash and is not returned',
})

export const ArchiveOff = defineError({
  status: 409,
  code: 'ARCHIVE_OFF',
  message: 'This installation has no storage for an archive',
})

export const JobNotFound = defineError({ status: 404, message: 'Archive job not found' })

export const JobRunning = defineError({
  status: 409,
  code: 'ARCHIVE_JOB_RUNNING',
  message: 'There is an unfinished job of this kind already',
})

export const MailboxNotFound = defineError({ status: 404, message: 'Mailbox not found' })
