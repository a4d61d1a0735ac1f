import { defineError } from '../../errors.ts'

export const QueuedMessageNotFound = defineError({
  status: 404,
  message: 'Message not found in the queue',
})
