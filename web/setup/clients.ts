import { clientFor } from '../lib/sessions.ts'

/** The first run signs in the first user and the first operator. */
export const tenant = clientFor('dashboard')
export const operator = clientFor('operator')
