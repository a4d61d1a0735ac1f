import { defineError } from '../../../errors.ts'

export const DeadLetterNotFound = defineError({ status: 404, message: 'Dead letter not found' })
export const CannotReplay = defineError<string>({
  status: 409,
  message: (why) => `Cannot replay dead letter: ${why}`,
})
export const CannotResolve = defineError<string>({
  status: 409,
  message: (why) => `Cannot resolve dead letter: ${why}`,
})
