import { clientFor } from '../lib/sessions.ts'

export const api = clientFor('mailbox')
