import { defineError } from '../../errors.ts'

export const FeedbackReportNotFound = defineError({
  status: 404,
  message: 'Feedback report not found',
})
