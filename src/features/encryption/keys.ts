/** Programs show fingerprints in groups, and with 0x. */
export const named = (fingerprint: string): string =>
  fingerprint
    .replace(/^0x/i, '')
    .replace(/[\s:]+/g, '')
    .toUpperCase()

interface Validity {
  can_encrypt: boolean
  revoked?: boolean
  expires_at: string | null
}

/** True when mail can be encrypted to a key or certificate. */
export const isUsable = (
  { can_encrypt, revoked = false, expires_at }: Validity,
  now: Date,
): boolean => can_encrypt && !revoked && (expires_at === null || new Date(expires_at) > now)
