import { defineError } from '../../../errors.ts'

export const AppPasswordNotFound = defineError({ status: 404, message: 'App password not found' })

export const TooManyAppPasswords = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_APP_PASSWORDS',
  message: ({ limit }) => `This mailbox already has ${limit} app passwords; revoke one first`,
  data: ({ limit }) => ({ limit }),
})
