import { defineError } from '../../../errors.ts'

export const NothingToLift = defineError({
  status: 404,
  message: 'No active throttle or block found',
})
