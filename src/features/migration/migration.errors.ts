import { defineError } from '../../errors.ts'

export const JobNotFound = defineError({ status: 404, message: 'Migration job not found' })

export const MailboxNotFound = defineError<string>({
  status: 404,
  message: (email) => `Mailbox ${email} not found`,
})

export const JobHasEnded = defineError<string>({
  status: 409,
  message: (status) => `Only pending or running jobs can be cancelled; this one is ${status}`,
})

export const JobNotEnded = defineError<string>({
  status: 409,
  message: (status) =>
    `Only completed or failed jobs can be retried; this one is ${status}. Wait for its end`,
})

export const NothingFailed = defineError({
  status: 409,
  message: 'No message is left to retry: none failed, or all that did were retried already',
})

export const JobNotCompleted = defineError<string>({
  status: 409,
  message: (status) => `Only a completed job can be followed by a delta; this one is ${status}`,
})

export const PairGone = defineError({
  status: 409,
  message: 'The mailbox of this job is no longer there; start a new job instead',
})
