import { defineError } from '../../../errors.ts'

export const SenderNotAllowed = defineError({
  status: 403,
  code: 'SENDER_NOT_ALLOWED',
  message: '`from` must be an address at an active domain of the organization',
})

export const TooManyWaiting = defineError<{ limit: number }>({
  status: 429,
  code: 'TOO_MANY_WAITING',
  message: ({ limit }) =>
    `At most ${limit} messages of an organization wait for the mail server; try again later`,
  data: ({ limit }) => ({ limit }),
})
