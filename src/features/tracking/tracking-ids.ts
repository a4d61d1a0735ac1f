import { randomBytes } from 'node:crypto'
import { sameSecret } from '../../lib/tokens.ts'
import type { Vault } from '../../lib/vault.ts'

const RANDOM_BYTES = 16
const POSITION_BYTES = 2
const MAC_BYTES = 8

/** The content of a tracking id: the copy of one recipient, or a link in it. */
interface TrackedThing {
  copy: string
  position?: number
}

/**
 * Opaque ids: random bytes, the position of a link, and a signature. A forged id is rejected by its
 * signature, without a query.
 */
export function trackingIds(vault: Pick<Vault, 'fingerprint'>) {
  const signed = (bytes: Buffer): string => {
    const mac = Buffer.from(vault.fingerprint('tracking id', bytes), 'hex').subarray(0, MAC_BYTES)
    return Buffer.concat([bytes, mac]).toString('base64url')
  }

  return {
    /** Also the primary key of the row of the recipient. */
    mint: (): string => signed(randomBytes(RANDOM_BYTES)),

    link(copy: string, position: number): string {
      const place = Buffer.alloc(POSITION_BYTES)
      place.writeUInt16BE(position)
      const random = Buffer.from(copy, 'base64url').subarray(0, RANDOM_BYTES)
      return signed(Buffer.concat([random, place]))
    },

    /** Undefined for a forged or damaged id. */
    read(id: string): TrackedThing | undefined {
      // Some programs add base64 padding.
      const plain = id.replace(/=+$/, '')
      const bytes = Buffer.from(plain, 'base64url').subarray(0, -MAC_BYTES)
      if (!sameSecret(signed(bytes), plain)) return undefined
      if (bytes.length === RANDOM_BYTES) return { copy: plain }
      const random = bytes.subarray(0, RANDOM_BYTES)
      return { copy: signed(random), position: bytes.readUInt16BE(RANDOM_BYTES) }
    },
  }
}
