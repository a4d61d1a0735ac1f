import type { Vault } from '../../../lib/vault.ts'

/** The same for an address everywhere; only the holder of the root key could tell whose it was. */
export const pseudonymOf = (vault: Vault, email: string): string =>
  `erased-${vault.fingerprint('erasure', email).slice(0, 16)}@erased.invalid`
