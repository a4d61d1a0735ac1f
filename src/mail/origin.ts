import type { Vault } from '../lib/vault.ts'

/** The header in which Postfix tells the content filter who sends: a key, and the login. */
export const ORIGIN_HEADER = 'X-Mailplane-Origin'

/** It follows from the root key, so that every process of an installation knows it. */
export const originKey = (vault: Vault): string => vault.fingerprint('content filter', 'origin')
