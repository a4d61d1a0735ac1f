export interface EncryptionCounts {
  encrypted: number
  decrypted: number
  signed: number
  verified: number
}

/** Texts of this process, with OpenPGP and S/MIME; the service encryption shows them. */
export const counts: EncryptionCounts = { encrypted: 0, decrypted: 0, signed: 0, verified: 0 }
