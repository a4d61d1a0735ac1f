import type { Vault } from '../../../lib/vault.ts'

/** Equal for every occurrence of an address, and not reversible without the root key. */
export const pseudonymOf = (vault: Vault, email: string): string =>
  `erased-${vault.fingerprint('erasure', email).slice(0, 16)}@erased.invalid`
