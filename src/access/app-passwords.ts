import { randomInt } from 'node:crypto'

/** The rights of an app password. `imap` includes POP3. */
export const APP_PASSWORD_SCOPES = ['imap', 'smtp', 'sieve', 'dav', 'jmap'] as const
export type AppPasswordScope = (typeof APP_PASSWORD_SCOPES)[number]

// Without letters and digits that are easily confused.
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 5

const group = () =>
  Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** 20 random characters, which are 99 bits, in groups that people can type. */
export const newAppPassword = (): string => Array.from({ length: GROUPS }, group).join('-')
