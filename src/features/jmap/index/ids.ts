import { sha256 } from '../../../lib/tokens.ts'

const DIGITS = 24

const hashed = (prefix: string, text: string) => `${prefix}${sha256(text).slice(0, DIGITS)}`

/** Dovecot keeps the GUID of a message when it is copied or moved, and of a folder when it is renamed. */
export const emailIdOf = (guid: string): string => hashed('E', guid)
export const mailboxIdOf = (guid: string): string => hashed('M', guid)
export const threadIdOf = (emailId: string): string => hashed('T', emailId)
export const messageHashOf = (messageId: string): string => sha256(messageId).slice(0, 32)

export const emailBlobId = (emailId: string): string => `B${emailId.slice(1)}`
