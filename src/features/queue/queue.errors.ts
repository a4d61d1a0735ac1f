import { defineError } from '../../errors.ts'

/** The queue has changed since the messages were counted. */
export const QueueCountChanged = defineError<{ expected: number; matched: number }>({
  status: 409,
  code: 'QUEUE_COUNT_CHANGED',
  message: ({ expected, matched }) =>
    `${matched} messages match now, not ${expected}; nothing was changed`,
  data: ({ matched }) => ({ matched }),
})

export const QueuedMessageNotFound = defineError({
  status: 404,
  message: 'Message not found in the queue',
})
