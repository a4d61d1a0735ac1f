import type { Client } from '../api/client.ts'
import { clientFor, type Kind } from '../lib/sessions.ts'

/** This page signs in all three kinds of people. */
export const clients: Record<Kind, Client> = {
  dashboard: clientFor('dashboard'),
  mailbox: clientFor('mailbox'),
  operator: clientFor('operator'),
}
