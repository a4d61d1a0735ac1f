import { defineError } from '../../errors.ts'

const INVALID = 'Invalid tracking ID'
const MISSING_EMAIL = 'Missing email'

export const InvalidTrackingId = defineError({
  status: 404,
  message: INVALID,
  fields: { error: INVALID },
})
export const TrackedEmailNotFound = defineError({ status: 404, message: 'Email not found' })
export const MissingEmail = defineError({
  status: 400,
  message: MISSING_EMAIL,
  fields: { error: MISSING_EMAIL },
})
export const BodyNotObject = defineError({
  status: 422,
  message: 'Request body must be a JSON object',
})
export const NoPublicUrl = defineError({
  status: 503,
  message: 'Tracking is not configured; set SVC_PUBLIC_URL',
})
