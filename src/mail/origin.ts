import { createHmac } from 'node:crypto'
import type { Vault } from '../lib/vault.ts'

/** The header in which Postfix passes the login of the sender to the content filter, after a key. */
export const ORIGIN_HEADER = 'X-Mailplane-Origin'

/** The word before the sender in the origin header of mail that a mailbox filter sends. */
export const AUTOMATIC_ORIGIN = 'automatic'

/** The word before the login in the origin header of outgoing mail that an operator released. */
export const RELEASED_ORIGIN = 'released'

/** Derived from the root key, so that every process of an installation computes the same key. */
export const originKey = (vault: Vault): string => vault.fingerprint('content filter', 'origin')

/** The word before the sender in a second origin header, of mail that was sent through the API. */
export const API_ORIGIN = 'api'

/**
 * The value of that header. It holds for one message, so that its recipient could not use it if an edge
 * without a content filter left it in.
 */
export function apiOrigin(key: string, sender: string, messageId: string): string {
  const named = `${API_ORIGIN} ${sender}`
  const proof = createHmac('sha256', key).update(`${named} ${messageId}`).digest('hex')
  return `${proof} ${named}`
}
